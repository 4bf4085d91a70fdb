/** @module-tag long */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { build } from "../../pipeline/index.ts";
import { cacheEntries, forgeEntry } from "../support/forged-cache.ts";
import { buildCallOf, buildWithJournal } from "../support/journal-build.ts";
import { copyProject, relcat, temporaryFolder } from "../support/run.ts";
import { differences, readSiblings, readTree, type Tree } from "../support/tree.ts";

let project: string;
let reasons: string[];

beforeEach(() => {
  project = copyProject("site/small");
  reasons = [];
});

const inside = (name: string) => join(project, name);

/** Builds with what the cache has. @param clean into a folder of its own, and without the cache */
async function built(clean = false): Promise<Tree> {
  const out = clean ? join(temporaryFolder(), "dist") : inside("dist");
  const onCacheFailure = (reason: string) => reasons.push(reason);
  const call = buildCallOf(project, { out, onCacheFailure });
  if (!clean) await buildWithJournal(call);
  else await build(call.folder, out, {}, { clock: 0, pid: process.pid, onWait: () => {}, onCacheFailure });
  return new Map([...readTree(out), ...readSiblings(out)]);
}

/** A new build with the cache of earlier ones. */
async function builtAnew(): Promise<Tree> {
  rmSync(inside("dist"), { recursive: true, force: true });
  return built();
}

const entries = (): string[] => cacheEntries(inside(".relcat-cache"));

test("a build ignores an entry in the place of another one", async () => {
  await built();
  const paths = entries();
  const contents = paths.map((path) => readFileSync(path));
  // Each gets the bytes of the one after it.
  for (const [index, path] of paths.entries())
    writeFileSync(path, contents[(index + 1) % contents.length] as Buffer);
  expect(differences(await builtAnew(), await built(true))).toEqual([]);
  expect(reasons).toEqual([]);
});

test("a build ignores entries of another configuration, under any name", async () => {
  await built();
  cpSync(inside(".relcat-cache"), inside("other"), { recursive: true });
  const config = inside("releases/catalog.yaml");
  writeFileSync(
    config,
    `${readFileSync(config, "utf8")}\nproduct: Another Product\n`.replace(/^product: .*$/m, ""),
  );
  rmSync(inside(".relcat-cache"), { recursive: true });
  await built();
  const others = readdirSync(inside("other"), { recursive: true, encoding: "utf8" })
    .map((name) => inside(`other/${name}`))
    .filter((path) => statSync(path).isFile());
  for (const path of entries()) {
    const same = others.filter((other) => statSync(other).size === statSync(path).size);
    const [other = others[0]] = same;
    writeFileSync(path, readFileSync(other as string));
  }
  expect(differences(await builtAnew(), await built(true))).toEqual([]);
});

test("a forged entry changes only previews, and a build without the cache is correct", async () => {
  const right = await built();
  const forged = entries().filter((path) =>
    forgeEntry(path, (text) => text.replaceAll("https://", "https:!!")),
  );
  expect(forged.length).toBeGreaterThan(0);
  // Only what spans releases is assembled from what the cache has.
  rmSync(inside("dist/api/v1/package/index.json"));
  const wrong = await built();
  expect(differences(wrong, right)).toEqual(["api/v1/latest.json", "build.json", "feed.atom", "feed.json"]);
  expect(differences(await built(true), right)).toEqual([]);
  rmSync(inside(".relcat-cache"), { recursive: true });
  expect(differences(await builtAnew(), right)).toEqual([]);
});

test.each([
  ["no JSON", () => "{"],
  ["another document", () => '{"release":{}}\n[]'],
  ["other types", (text: string) => text.replaceAll('"artifacts":[', '"artifacts":[null,')],
  ["no stat data", (text: string) => text.replaceAll(/\[\d+,[\d.]+,[\d.]+,\d+\]/g, "null")],
  ["nothing", () => ""],
])("entries of %s do not stop a build, and the next one has a cache again", async (_, change) => {
  const right = await built();
  for (const path of entries()) forgeEntry(path, change);
  expect(differences(await builtAnew(), right)).toEqual([]);
  expect(reasons.length).toBeLessThan(2);
  reasons = [];
  expect(differences(await built(), right)).toEqual([]);
  expect(reasons).toEqual([]);
});

test("a journal of another version of relcat, in a form of its own, is no failure of the cache", async () => {
  const right = await built();
  const [journal = ""] = entries().filter((path) => path.includes("/journal-"));
  const changed = (text: string) =>
    `${text.split("\n")[0]?.replace('"program":"tested"', '"program":"newer"')}\n[0,2]\n`;
  expect(forgeEntry(journal, changed)).toBe(true);
  expect(differences(await built(), right)).toEqual([]);
  expect(reasons).toEqual([]);
});

test("a forged entry writes nothing outside of the site's folder", async () => {
  const right = await built();
  for (const path of entries())
    forgeEntry(path, (text) =>
      text.replaceAll("26.08.002", "../../../escaped").replaceAll("server", "../../../../x"),
    );
  await builtAnew();
  expect(readdirSync(project).sort()).toEqual([".relcat-cache", ".relcat-lock-dist", "dist", "releases"]);
  rmSync(inside(".relcat-cache"), { recursive: true });
  expect(differences(await builtAnew(), right)).toEqual([]);
});

test("an unreadable entry is built again, and reported once", async () => {
  const right = await built();
  for (const path of entries()) {
    rmSync(path);
    mkdirSync(path);
  }
  expect(differences(await builtAnew(), right)).toEqual([]);
  expect(reasons).toEqual([expect.stringMatching(/^cannot read .*: it is a folder$/)]);
});

test.each([
  ["an entry", () => writeInsteadOfFolders()],
  ["the folder", () => writeFileSync(inside(".relcat-cache"), "a file")],
])("%s that cannot be written does not stop a build, and is reported once", async (_, spoil) => {
  const right = await built(true);
  spoil();
  const first = await relcat(project, ["build"]);
  expect(first.exitCode).toBe(0);
  const said = first.stderr.split("\n").filter((line) => line.startsWith("The cache does not work: "));
  expect(said).toEqual([
    expect.stringMatching(
      /: cannot write \.relcat-cache.*\. The build continues, but the next one will take longer\.$/,
    ),
  ]);
  const dist = new Map([...readTree(inside("dist")), ...readSiblings(inside("dist"))]);
  expect(differences(dist, right)).toEqual([]);
  expect((await relcat(project, ["build"])).exitCode).toBe(0);
});

/** A file where each folder of entries would be. */
function writeInsteadOfFolders(): void {
  mkdirSync(inside(".relcat-cache"));
  const hex = [..."0123456789abcdef"];
  const names = [...hex.flatMap((a) => hex.map((b) => a + b)), "jo", "ou", "re"];
  for (const name of names) writeFileSync(inside(`.relcat-cache/${name}`), "");
}
