import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { build, cut, RelcatError, retract } from "../../pipeline/index.ts";
import { unchangedBuild } from "../../pipeline/journal/unchanged-build.ts";
import { often } from "../support/effort.ts";
import { buildCallOf, buildWithJournal } from "../support/journal-build.ts";
import { temporaryFolder } from "../support/run.ts";
import { differences, readSiblings, readTree, type Tree } from "../support/tree.ts";

/** Sequences of edits; each step is built incrementally and from nothing. */
const sequences = often(60, 5);

interface Edited {
  folder: string;
  versions: string[];
  clock: number;
}

const surroundings = ({ clock }: Edited) => ({ clock, pid: process.pid, onWait: () => {} });
const inside = ({ folder }: Edited, path: string) => join(folder, "releases", path);

function write(edited: Edited, path: string, text: string): void {
  mkdirSync(dirname(inside(edited, path)), { recursive: true });
  writeFileSync(inside(edited, path), text);
}

const artifact = (version: string, name: string, description: string) => ({
  name: `${name}-${version}.rpm`,
  package_type: "rpm",
  description,
  sha256: Buffer.from(`${version} ${name}`).toString("hex").padEnd(64, "0").slice(0, 64),
  size: 5,
});

const manifest = (version: string, name: string, description: string) =>
  JSON.stringify({ release: version, artifacts: [artifact(version, name, description)] });

function some<T>(list: readonly T[], number: number): T | undefined {
  return list[number % Math.max(list.length, 1)];
}

function manifestOf(edited: Edited, number: number): string | undefined {
  const version = some(edited.versions, number);
  const folder = version && inside(edited, `${version}/manifests`);
  if (!version || !folder || !existsSync(folder)) return undefined;
  const name = some(readdirSync(folder).sort(), number);
  return name && `${version}/manifests/${name}`;
}

/** Changes a byte, and sets the modification time back. */
function tamper(path: string): void {
  const { atime, mtime } = statSync(path);
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  writeFileSync(path, bytes);
  utimesSync(path, atime, mtime);
}

type Edit = (edited: Edited, number: number) => Promise<void> | void;

const edits: Readonly<Record<string, Edit>> = {
  "a release is added": (edited, number) => {
    const version = `26.0${1 + (number % 3)}.${String(1 + (number % 7)).padStart(3, "0")}`;
    if (edited.versions.includes(version)) return;
    edited.versions.push(version);
    write(
      edited,
      `${version}/release.yaml`,
      `version: ${version}\ndate: 2026-02-01\nsummary: The *${number}*.\n`,
    );
    write(edited, `${version}/manifests/a.json`, manifest(version, "tool", "A tool."));
  },
  "an artifact is added": (edited, number) => {
    const version = some(edited.versions, number);
    if (version)
      write(
        edited,
        `${version}/manifests/b${number % 3}.json`,
        manifest(version, `more${number % 3}`, "More."),
      );
  },
  "a description is revised": (edited, number) => {
    const path = manifestOf(edited, number);
    if (!path) return;
    const text = readFileSync(inside(edited, path), "utf8");
    write(edited, path, text.replace(/"description":"[^"]*"/, `"description":"Text ${number % 10}."`));
  },
  "a manifest has another name": (edited, number) => {
    const path = manifestOf(edited, number);
    if (path) renameSync(inside(edited, path), inside(edited, path.replace(".json", `-${number}.json`)));
  },
  "a note is written": (edited, number) => {
    const version = some(edited.versions, number);
    if (version)
      write(
        edited,
        `${version}/notes/n${number % 4}.yaml`,
        `component: server\nkind: fix\ntext: Fix ${number}.\n`,
      );
  },
  "the product has another name": (edited, number) =>
    write(edited, "catalog.yaml", `require: {}\nproduct: Product ${number % 4}\n`),
  "hosts are named": (edited) => write(edited, "catalog.yaml", "require: {}\nhosts: [nginx]\n"),
  "everything is cut": async (edited) => {
    await said(() =>
      cut(inside(edited, ""), { allowRevise: 1000, allowIncomplete: true }, surroundings(edited)),
    );
  },
  "a record is withdrawn": async (edited, number) => {
    const ids = [1 + (number % 5)];
    await said(() => retract(inside(edited, ""), { ids, reason: `Broken ${number}.` }, surroundings(edited)));
  },
  "a manifest is broken": (edited, number) => {
    const path = manifestOf(edited, number);
    if (path) write(edited, path, readFileSync(inside(edited, path), "utf8").replace("rpm", "pmr"));
  },
  "a broken manifest is mended": (edited) => {
    for (const version of edited.versions) {
      const folder = inside(edited, `${version}/manifests`);
      for (const name of readdirSync(folder)) {
        const text = readFileSync(join(folder, name), "utf8");
        if (text.includes("pmr")) writeFileSync(join(folder, name), text.replace("pmr", "rpm"));
      }
    }
  },
  "the clock goes on": (edited, number) => {
    edited.clock += number * 1000;
  },
  "times are set back": (edited, number) => {
    const path = manifestOf(edited, number);
    if (path) utimesSync(inside(edited, path), 1, 1);
  },
  "the cache is damaged": (edited, number) => {
    const entries = readdirSync(join(edited.folder, ".relcat-cache"), { recursive: true, encoding: "utf8" })
      .map((name) => join(edited.folder, ".relcat-cache", name))
      .filter((path) => statSync(path).isFile());
    const path = some(entries.sort(), number);
    if (!path) return;
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(number % bytes.length) ^ (1 + (number % 255)), number % bytes.length);
    writeFileSync(path, bytes);
  },
  "the cache is deleted": ({ folder }) => rmSync(join(folder, ".relcat-cache"), { recursive: true }),
  "an output is deleted": ({ folder }, number) => {
    const files = [...readTree(join(folder, "dist")).keys()].filter((path) =>
      /index\.(html|json)$/.test(path),
    );
    const path = some(files, number);
    if (path) rmSync(join(folder, "dist", path));
  },
  "an output is edited": ({ folder }, number) => {
    const path = some([...readTree(join(folder, "dist")).keys()], number);
    // build.json says which files are relcat's.
    if (path && path !== "build.json") tamper(join(folder, "dist", path));
  },
  "a compressed output is edited": ({ folder }, number) => {
    const path = some([...readSiblings(join(folder, "dist")).keys()], number);
    if (path) tamper(join(folder, "dist", path));
  },
  "nothing is changed": () => {},
};

/** Siblings that an earlier build made may have been compressed with others. */
const decoded = (siblings: Tree): Tree =>
  new Map(
    [...siblings].map(([path, bytes]) => [
      path,
      path.endsWith(".gz") ? gunzipSync(bytes) : brotliDecompressSync(bytes),
    ]),
  );

/** Error messages; undefined: success. */
async function said(work: () => Promise<unknown>): Promise<string[] | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    return error.problems.map(
      ({ code, message, at }) => `${at?.file}:${at?.line}:${at?.column} ${code} ${message}`,
    );
  }
}

/** Builds like the command line: skips an unchanged project. */
async function buildIncrementally({ folder, clock }: Edited): Promise<void> {
  const call = buildCallOf(folder, { clock });
  if (unchangedBuild(call) === undefined) await buildWithJournal(call);
}

const step = fc.tuple(fc.constantFrom(...Object.keys(edits)), fc.nat(1000));

test("an incremental build after any edits makes the same bytes as a full build", {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      const edited: Edited = { folder: temporaryFolder(), versions: [], clock: Date.UTC(2026, 2, 1) };
      write(edited, "catalog.yaml", "require: {}\n");
      await edits["a release is added"]?.(edited, 0);
      await buildIncrementally(edited);
      for (const [name, number] of steps) {
        await edits[name]?.(edited, number);
        const cold = join(edited.folder, "cold");
        const refused = await said(() => build(inside(edited, ""), cold, {}, surroundings(edited)));
        expect(await said(() => buildIncrementally(edited)), name).toEqual(refused);
        if (refused) continue;
        const dist = join(edited.folder, "dist");
        expect(differences(readTree(dist), readTree(cold)), name).toEqual([]);
        expect(differences(decoded(readSiblings(dist)), decoded(readSiblings(cold))), name).toEqual([]);
        rmSync(cold, { recursive: true });
      }
      rmSync(edited.folder, { recursive: true });
    }),
    { numRuns: sequences },
  );
});
