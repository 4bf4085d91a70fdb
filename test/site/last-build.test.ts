import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { build } from "../../pipeline/index.ts";
import { beforeBuild, rememberBuild, unchangedBuild } from "../../pipeline/journal/unchanged-build.ts";
import { copyProject, repository } from "../support/run.ts";

const report = "nothing to do, as “before”";
const surroundings = { clock: 0, pid: process.pid, onWait: () => {} };

let project: string;
beforeEach(() => {
  project = copyProject("site/small");
});

const path = (name: string) => join(project, name);

/** Older than a copy, whose looks tell nothing for two seconds. */
const old = join(repository, "test/fixtures/site/small/releases");

const callOf = (folder = path("releases"), words: readonly string[] = ["build"], own = repository) => ({
  words,
  program: "tested",
  own,
  folder,
  cache: path(".relcat-cache"),
  pid: process.pid,
  clock: 0,
});

async function built(call = callOf()): Promise<void> {
  const inputs = await beforeBuild(call);
  const { delivery } = await build(call.folder, path("dist"), {}, surroundings);
  if (inputs) await rememberBuild(call, path("dist"), inputs, delivery.made, report);
}

function entry(): string {
  const names = readdirSync(path(".relcat-cache"), { recursive: true, encoding: "utf8" });
  const files = names.map((name) => path(`.relcat-cache/${name}`)).filter((name) => statSync(name).isFile());
  expect(files).toHaveLength(1);
  return files[0] as string;
}

test("an entry that is damaged anywhere says nothing else than what was said", async () => {
  await built(callOf(old));
  const file = entry();
  const whole = readFileSync(file);
  const said = new Set<string | undefined>();
  // What is looked at may be as it was although the entry's note of it, or the cache's own digest, is not.
  for (let at = 0; at < whole.length; at += 7) {
    const bytes = Buffer.from(whole);
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 + (at % 255)), at);
    writeFileSync(file, bytes);
    said.add(await unchangedBuild(callOf(old)));
  }
  expect(said).toEqual(new Set([undefined, report]));
  writeFileSync(file, whole);
  expect(await unchangedBuild(callOf(old))).toBe(report);
});

test("an entry that is cut short anywhere is none", async () => {
  await built(callOf(old));
  const file = entry();
  const whole = readFileSync(file);
  for (let length = 0; length < whole.length; length += 31) {
    writeFileSync(file, whole.subarray(0, length));
    expect(await unchangedBuild(callOf(old)), `${length}`).toBeUndefined();
  }
});

test("another command line, and relcat elsewhere, say nothing of it", async () => {
  await built();
  expect(await unchangedBuild(callOf(path("releases"), ["build", "--json"]))).toBeUndefined();
  expect(await unchangedBuild(callOf(path("releases"), ["build"], project))).toBeUndefined();
  expect(await unchangedBuild(callOf())).toBe(report);
});

test("without a releases folder, or where nothing can be kept, nothing is remembered", async () => {
  expect(await beforeBuild({ ...callOf(), folder: path("none") })).toBeUndefined();
  writeFileSync(path("file"), "");
  expect(await beforeBuild({ ...callOf(), cache: path("file") })).toBeUndefined();
  expect(await unchangedBuild({ ...callOf(), cache: path("file") })).toBeUndefined();
});

const manifests = "releases/26.08.002/manifests";

/** What comes and goes in a folder, and whether a build has to look at it. */
const changes: readonly [what: string, change: () => void, isSeen: boolean][] = [
  ["a file", () => writeFileSync(path(`${manifests}/new.json`), "{}"), true],
  ["an empty folder", () => mkdirSync(path("releases/empty")), true],
  ["a link", () => symlinkSync(path("releases/catalog.yaml"), path("releases/link.yaml")), true],
  ["a file that others hide", () => writeFileSync(path(`${manifests}/.new.json.swp`), ""), false],
  [
    "a file under another name",
    () => {
      const [name] = readdirSync(path(manifests));
      renameSync(path(`${manifests}/${name}`), path(`${manifests}/0-${name}`));
    },
    true,
  ],
  [
    "a folder that is a link now",
    () => {
      cpSync(path(manifests), path("elsewhere"), { recursive: true });
      renameSync(path(manifests), path("before"));
      symlinkSync(path("elsewhere"), path(manifests));
    },
    true,
  ],
];

test.each(changes)("%s that comes", async (_, change, isSeen) => {
  await built();
  expect(await unchangedBuild(callOf())).toBe(report);
  change();
  expect(await unchangedBuild(callOf())).toBe(isSeen ? undefined : report);
  if (!isSeen) expect(await unchangedBuild(callOf())).toBe(report);
});

test("build.json with other bytes and its old time", async () => {
  await built();
  const document = path("dist/build.json");
  const { atime, mtime } = statSync(document);
  const text = readFileSync(document, "utf8");
  writeFileSync(document, text.replace('"files"', '"Files"'));
  utimesSync(document, atime, mtime);
  expect(await unchangedBuild(callOf())).toBeUndefined();
});
