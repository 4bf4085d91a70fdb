import { failure } from "../../../shared/errors.ts";
import { isVersion, lineOf, nextVersion } from "../../../shared/version.ts";
import type { Manifest } from "../../documents/manifest.ts";
import { releaseSchema, type WrittenRelease } from "../../documents/release.ts";
import { type Ledger, readLedger } from "../../ledger/ledger.ts";
import { identity } from "../../ledger/ledger-records.ts";
import { filesIn } from "../../project/authored-files.ts";
import type { Located } from "../../project/document.ts";
import { readBytes } from "../../project/parse.ts";
import { exists } from "../../system/files.ts";

/** release.yaml of a version, if readable; `check` reports its problems. */
export function readRelease(folder: string, version: string): Located<WrittenRelease> | undefined {
  const file = `${folder}/${version}/release.yaml`;
  const bytes = filesIn(folder).read(`${version}/release.yaml`);
  return bytes && readBytes(file, bytes, releaseSchema).document;
}

/** @throws RelcatError version-unknown if the release does not exist */
export function requireRelease(folder: string, version: string): void {
  // biome-ignore lint/plugin: the version is checked.
  if (exists(`${folder}/${version}`)) return;
  const known = versionsIn(folder);
  const month = lineOf(version);
  const next = nextVersion(month, known);
  const isNext = next === version || next === undefined;
  const opens = `relcat new ${month}${isNext ? "" : ` opens ${next}`}`;
  const ways = isNext ? `Open it with ${opens}` : `${shown(known)}${opens}`;
  const hint = `${ways}, or write the manifest elsewhere with --out FILE.`;
  throw failure("version-unknown", `there is no release ${version} in ${folder}/`, hint);
}

/**
 * A mistyped month would add files to an old release that is public.
 * @throws RelcatError release-cut if the manifest has files that its cut release lacks
 */
export function refuseLateFiles(folder: string, { release, artifacts }: Manifest): void {
  const ledger = ledgerIn(folder);
  if (!ledger.versions.has(release)) return;
  const files = artifacts.map(({ file, name }) => file ?? name);
  const late = files.filter((file) => !ledger.byIdentity.has(identity(release, file)));
  if (late.length === 0) return;
  const open = openVersions(folder).slice(-5).join(" or ");
  const hint = open === "" ? "relcat new opens the next release." : `Is it for ${open}?`;
  const message = `${release} is cut and may be public, and this would add to it: ${late.join(", ")}`;
  throw failure("release-cut", message, `${hint} To add to ${release} on purpose: --add-to-cut`);
}

/** Open and cut versions, because numbers are never reused. */
const versionsIn = (folder: string): string[] =>
  [...new Set([...versionFolders(folder), ...ledgerIn(folder).versions])].sort();

/** Releases that are not cut, the newest last. */
export function openVersions(folder: string): string[] {
  const cut = ledgerIn(folder).versions;
  return versionFolders(folder).filter((version) => !cut.has(version));
}

const versionFolders = (folder: string): string[] => filesIn(folder).folders().filter(isVersion).sort();

/** As far as it can be read; `check` reports its problems. */
export function ledgerIn(folder: string): Ledger {
  const bytes = filesIn(folder).read("ledger.jsonl");
  return readLedger({ file: "ledger.jsonl", text: new TextDecoder().decode(bytes) }).ledger;
}

const shown = (versions: readonly string[]) =>
  versions.length === 0
    ? ""
    : `${versions.length > 5 ? "The newest are" : "There is"} ${versions.slice(-5).join(", ")}; `;
