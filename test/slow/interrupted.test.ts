import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { often } from "../support/effort.ts";
import { callsOf, countCalls, killedAt, killPoints } from "../support/interrupt.ts";
import { manyReleases } from "../support/large.ts";
import { project } from "../support/project.ts";
import { copyProject, relcat, temporaryFolder } from "../support/run.ts";
import { brokenLinks, differences, readSiblings, readTree, type Tree } from "../support/tree.ts";

const base = "https://downloads.example.com/catalog";
const hour = 3_600_000;

/** The small catalog before and after an edit that adds, changes and removes files of its site. */
async function twoSites() {
  const folder = copyProject("site/small");
  await relcat(folder, ["build"]);
  const before = readTree(join(folder, "dist"));
  const release = join(folder, "releases/26.07.001/release.yaml");
  writeFileSync(release, readFileSync(release, "utf8").replace("slow disk", "very slow disk"));
  await relcat(folder, [
    "retract",
    "7",
    "--reason",
    "Does not start.",
    "--yes",
    "--now",
    "2026-08-22T08:00:00Z",
  ]);
  await relcat(folder, ["build", "--out", "after"]);
  const after = readTree(join(folder, "after"));
  const siblings = [...readSiblings(join(folder, "after")).keys()];
  rmSync(join(folder, "after"), { recursive: true });
  return { folder, before, after, siblings };
}

/** Compressed files that do not match their uncompressed file. */
const foreignSiblings = (dist: string, tree: Tree) =>
  [...readSiblings(dist)]
    .filter(
      ([path, bytes]) => !decompressed(path, bytes).equals(tree.get(path.replace(/\.\w+$/, "")) ?? bytes),
    )
    .map(([path]) => path);

const decompressed = (path: string, bytes: Buffer) =>
  path.endsWith(".gz") ? gunzipSync(bytes) : brotliDecompressSync(bytes);

const whole = (tree: Tree, before: Tree, after: Tree) =>
  [...tree]
    .filter(([path, bytes]) => !before.get(path)?.equals(bytes) && !after.get(path)?.equals(bytes))
    .map(([path]) => path);

/** A cache of earlier runs would reduce the number of calls. */
const forget = (folder: string) => rmSync(join(folder, ".relcat-cache"), { recursive: true, force: true });

test(
  "a build that is killed before a write leaves every file old or new and every link valid, and the next one finishes",
  async () => {
    const { folder, before, after, siblings } = await twoSites();
    const dist = join(folder, "dist");
    const start = join(temporaryFolder(), "dist");
    cpSync(dist, start, { recursive: true, preserveTimestamps: true });
    forget(folder);
    const calls = await callsOf(folder, ["build"]);
    expect(calls.length).toBeGreaterThan(100);
    let sawOld = 0;
    let sawNew = 0;
    for (const [index, call] of killPoints(calls, 120).entries()) {
      rmSync(dist, { recursive: true });
      cpSync(start, dist, { recursive: true, preserveTimestamps: true });
      forget(folder);
      await killedAt(call, folder, ["build"]);
      const tree = readTree(dist);
      expect(whole(tree, before, after), `killed at ${call}`).toEqual([]);
      expect(brokenLinks(tree, base), `killed at ${call}`).toEqual([]);
      expect(foreignSiblings(dist, tree), `killed at ${call}`).toEqual([]);
      const buildIsNew = tree.get("build.json")?.equals(after.get("build.json") ?? Buffer.alloc(0));
      if (buildIsNew) {
        sawNew++;
        expect(differences(tree, after)).toEqual([]);
      } else sawOld++;
      // The next build runs only after some, because it is slow.
      if (index % 5 === 0 || buildIsNew) {
        expect((await relcat(folder, ["build"])).exitCode).toBe(0);
        expect(differences(readTree(dist), after)).toEqual([]);
        expect([...readSiblings(dist).keys()]).toEqual(siblings);
        expect(readdirSync(dist).filter((name) => name.startsWith(".relcat-tmp"))).toEqual([]);
      }
    }
    expect([sawOld > 0, sawNew > 0]).toEqual([true, true]);
  },
  hour,
);

test(
  "a first build that is killed anywhere is finished by the next one",
  async () => {
    const folder = copyProject("site/small");
    const dist = join(folder, "dist");
    await relcat(folder, ["build"]);
    const complete = readTree(dist);
    rmSync(dist, { recursive: true });
    forget(folder);
    const calls = await countCalls(folder, ["build"]);
    for (let call = 1; call <= calls; call += often(1, 140)) {
      rmSync(dist, { recursive: true, force: true });
      forget(folder);
      await killedAt(call, folder, ["build"]);
      const { exitCode, stderr } = await relcat(folder, ["build"]);
      expect(exitCode, stderr).toBe(0);
      expect(differences(readTree(dist), complete)).toEqual([]);
    }
  },
  hour,
);

test.each([
  ["cut", ["cut", "26.08.002", "--now", "2026-09-16T08:00:00Z"]],
  ["retract", ["retract", "6", "--reason", "Broken.", "--yes", "--now", "2026-09-16T08:00:00Z"]],
])("%s, killed before any write, leaves the ledger unchanged or complete", async (_, command) => {
  const folder = copyProject("site/small");
  const ledger = join(folder, "releases/ledger.jsonl");
  const manifest = join(folder, "releases/26.08.002/manifests/desktop.json");
  writeFileSync(
    manifest,
    readFileSync(manifest, "utf8").replaceAll("client-26.08.002.pkg", "new-client-26.08.002.pkg"),
  );
  const lines = readFileSync(ledger, "utf8").split("\n");
  const old = `${lines.filter((line) => line !== "" && !line.includes('"id":7')).join("\n")}\n`;
  writeFileSync(ledger, old);
  const calls = await callsOf(folder, command);
  const complete = readFileSync(ledger, "utf8");
  expect(complete).not.toBe(old);
  for (const call of killPoints(calls, 16)) {
    writeFileSync(ledger, old);
    await killedAt(call, folder, command);
    expect([old, complete]).toContain(readFileSync(ledger, "utf8"));
    const checked = await relcat(folder, ["check"]);
    expect(checked.exitCode, checked.stderr).toBe(0);
    await relcat(folder, command);
    expect(readFileSync(ledger, "utf8")).toBe(complete);
  }
});

test("a build that is killed during compression leaves every file complete, and the next one finishes", async () => {
  const { folder, write, succeed } = project(manyReleases());
  const [dist, start] = [join(folder, "dist"), join(temporaryFolder(), "dist")];
  await succeed("build");
  const before = readTree(dist);
  cpSync(dist, start, { recursive: true, preserveTimestamps: true });
  write("releases/catalog.yaml", { product: "Renamed", require: {} });
  await succeed("build", "--out", "after");
  const after = readTree(join(folder, "after"));
  forget(folder);
  const calls = await countCalls(folder, ["build"]);
  for (const part of often([0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9], [0.25, 0.5, 0.75])) {
    rmSync(dist, { recursive: true });
    cpSync(start, dist, { recursive: true, preserveTimestamps: true });
    forget(folder);
    await killedAt(Math.round(calls * part), folder, ["build"]);
    const tree = readTree(dist);
    expect(whole(tree, before, after), `killed at ${part}`).toEqual([]);
    expect(foreignSiblings(dist, tree), `killed at ${part}`).toEqual([]);
    await succeed("build");
    expect(differences(readTree(dist), after), `killed at ${part}`).toEqual([]);
  }
});
