import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { liveProject } from "../intake/import/importing.ts";
import { often } from "../support/effort.ts";
import { countCalls, killedAt } from "../support/interrupt.ts";
import { type Live, liveRecord, rows } from "../support/live-catalog.ts";
import { relcat } from "../support/run.ts";
import { readTree, type Tree } from "../support/tree.ts";

const row = (type: string) => rows.find((candidate) => candidate.type === type) as (typeof rows)[number];

const record = (id: number, type: string, version: string, rest: object = {}): Live => ({
  ...liveRecord({
    id,
    version,
    row: row(type),
    name: `tool-${id}`,
    created: "2026-05-05T08:00:00.000001Z",
    wire: { vendor: "acme", cryptolib_post: "acme_post" },
  }),
  ...rest,
});

const list = [
  record(2, "qcow", "26.05.001"),
  record(3, "xz", "26.05.001", { operating_system: "LINUX", modified_date: "2026-05-06T08:00:00.000001Z" }),
  record(4, "xz", "26.06.001"),
];
const command = ["import", "live.json", "--accept-violations"];

test("an import that is killed before any write leaves no ledger or a complete one, and finishes when it runs again", async () => {
  const { folder } = liveProject(list);
  const releases = join(folder, "releases");
  const calls = await countCalls(folder, command);
  const complete = readTree(releases);
  expect([...complete.keys()]).toEqual([
    "26.05.001/manifests/imported.json",
    "26.05.001/release.yaml",
    "26.06.001/manifests/imported.json",
    "26.06.001/release.yaml",
    "catalog.yaml",
    "exceptions.yaml",
    "ledger.jsonl",
  ]);
  expect(calls).toBeGreaterThan(40);
  // The step does not divide the number of calls for a file, so that every kind of write is hit.
  for (let call = 1; call <= calls; call += often(1, 17)) {
    rmSync(releases, { recursive: true, force: true });
    await killedAt(call, folder, command);
    const partial: Tree = existsSync(releases) ? readTree(releases) : new Map();
    expect(torn(partial, complete), `killed at ${call}`).toEqual([]);
    // The ledger is written last.
    if (partial.has("ledger.jsonl")) expect(partial).toEqual(complete);
    await finish(folder);
    expect(readTree(releases), `after ${call}`).toEqual(complete);
  }
});

const torn = (partial: Tree, complete: Tree) =>
  [...partial].filter(([path, bytes]) => !complete.get(path)?.equals(bytes)).map(([path]) => path);

async function finish(folder: string) {
  const { exitCode, stderr } = await relcat(folder, command);
  expect(exitCode, stderr).toBe(0);
}

test("import removes what an interrupted import of another list left", async () => {
  const made = liveProject(list);
  await made.succeed(...command);
  rmSync(join(made.folder, "releases/ledger.jsonl"));
  writeFileSync(join(made.folder, "live.json"), JSON.stringify(list.slice(0, 2)));
  await made.succeed(...command);
  expect(JSON.parse(made.read("releases/26.06.001/manifests/imported.json")).artifacts).toEqual([]);
  await made.succeed("build", "--released");
  expect(JSON.parse(readFileSync(join(made.folder, "dist/api/v1/package/index.json"), "utf8"))).toHaveLength(
    2,
  );
});
