import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { artifactsOf, pathOf, verdictOf } from "../../test/support/artifacts.ts";
import { debsigFolders } from "../../test/support/debsig.ts";
import { type Group, repeated } from "../build/rounds.ts";
import type { Command } from "../build/runs.ts";
import type { Trust } from "./trust.ts";

export const kinds = ["rpm", "deb", "msi"] as const;
export type Kind = (typeof kinds)[number];

export const ours = "relcat inspect";
export const smallTitle = (kind: Kind): string => `${kind}: many that are small`;
export const largeTitle = (kind: Kind): string => `${kind}: a few that are large`;

/** Packages that lie in one folder, beside a list of their names. */
export interface Lot {
  kind: Kind;
  title: string;
  folder: string;
  files: readonly string[];
}

const list = "files.txt";

/** Copies of the fixtures that relcat and the tool of Debian find good. */
export function smallLot(work: string, kind: Kind, copies: number): Lot {
  const good = artifactsOf(kind).filter((artifact) => verdictOf(artifact) === "ok" && artifact.rc === 0);
  const sound = good.filter(({ file }) => !file.includes("-exe."));
  return lotOf(
    work,
    { kind, title: smallTitle(kind) },
    sound.map(({ file }) => pathOf(file)),
    copies,
  );
}

/** @param large folder with packages of every kind */
export function largeLot(work: string, kind: Kind, large: string): Lot {
  const paths = readdirSync(large).filter((name) => extname(name) === `.${kind}`);
  return lotOf(
    work,
    { kind, title: largeTitle(kind) },
    paths.sort().map((name) => join(large, name)),
    1,
  );
}

export const huge = {
  title: "A package that is much larger",
  hash: "openssl dgst -sha256, agent-gzip.deb",
  inspected: ["agent-gzip.deb", "agent-zstd.deb", "agent-gzip.rpm", "agent-zstd.rpm"].map(
    (file) => `${ours}, ${file}`,
  ),
} as const;

/** @param folder of the packages */
export function hugeGroup(folder: string, relcat: string, trust: Trust, work: string): Group {
  const env = { NODE_COMPILE_CACHE: undefined };
  const entry = (name: string, ...argv: [string, ...string[]]) =>
    repeated(
      name,
      { argv: [...argv, name.slice(name.lastIndexOf(" ") + 1)], cwd: folder, env },
      join(work, "outs"),
    );
  return {
    title: huge.title,
    entries: [
      entry(huge.hash, "openssl", "dgst", "-sha256"),
      ...huge.inspected.map((name) => entry(name, process.execPath, relcat, "inspect", "--keys", trust.keys)),
    ],
  };
}

function lotOf(
  work: string,
  named: Pick<Lot, "kind" | "title">,
  paths: readonly string[],
  copies: number,
): Lot {
  const folder = join(work, "lots", named.title.replaceAll(/\W+/g, "-"));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files: string[] = [];
  for (let copy = 1; copy <= copies; copy++) {
    for (const path of paths) {
      files.push(`${copy}-${basename(path)}`);
      copyFileSync(path, join(folder, `${copy}-${basename(path)}`));
    }
  }
  writeFileSync(join(folder, list), files.join("\n"));
  return { ...named, folder, files };
}

export const stock = {
  rpm: "rpmkeys -K, all in one process",
  rpmEach: "rpmkeys -K, one process each",
  deb: "debsig-verify, one process each",
  msi: "osslsigncode verify, one process each",
  rpmUnpacked: "rpm2cpio, which only unpacks",
  debUnpacked: "dpkg-deb --fsys-tarfile, which only unpacks",
} as const;

/** relcat over all packages of a lot in one process, after the tools of Debian. The first is what others are compared with. */
export function packagesGroup(
  { kind, title, folder, files }: Lot,
  relcat: string,
  trust: Trust,
  work: string,
): Group {
  const each = (...argv: string[]) => ["xargs", "-a", list, "-n1", ...argv] as const;
  const rpmkeys = ["rpmkeys", "--dbpath", trust.rpmdb, "-K"] as const;
  const authorities = ["-CAfile", trust.authorities, "-TSA-CAfile", trust.authorities];
  const tools: Record<Kind, Readonly<Record<string, Command["argv"]>>> = {
    rpm: {
      [stock.rpm]: [...rpmkeys, ...files],
      [stock.rpmEach]: each(...rpmkeys),
      [stock.rpmUnpacked]: each("rpm2cpio"),
    },
    deb: {
      [stock.deb]: each("debsig-verify", ...debsigFolders(trust.debsig)),
      [stock.debUnpacked]: each("dpkg-deb", "--fsys-tarfile"),
    },
    msi: { [stock.msi]: each("osslsigncode", "verify", ...authorities, "-in") },
  };
  const argvs = {
    ...tools[kind],
    [ours]: [process.execPath, relcat, "inspect", "--keys", trust.keys, ...files] as const,
  };
  const env = { NODE_COMPILE_CACHE: undefined };
  return {
    title,
    entries: Object.entries(argvs).map(([name, argv]) =>
      repeated(name, { argv, cwd: folder, env }, join(work, "outs")),
    ),
  };
}
