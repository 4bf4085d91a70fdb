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
import { beforeBuild, unchangedBuild } from "../../pipeline/journal/unchanged-build.ts";
import { buildCallOf, buildWithJournal } from "../support/journal-build.ts";
import { copyProject, repository } from "../support/run.ts";

const report = "nothing to do, as “before”";

let project: string;
beforeEach(() => {
  project = copyProject("site/small");
});

const path = (name: string) => join(project, name);

/** Older than a copy, whose looks tell nothing at first. */
const old = join(repository, "test/fixtures/site/small/releases");

const callOf = (folder = path("releases"), words: readonly string[] = ["build"], own = repository) =>
  buildCallOf(project, { folder, words, own });

const built = (call = callOf()) => buildWithJournal(call, report);

const entry = () => path(".relcat-cache/jo/journal-dist");

test("a damaged journal is ignored", async () => {
  await built(callOf(old));
  const file = entry();
  const whole = readFileSync(file);
  const said = new Set<unknown>();
  for (let at = 0; at < whole.length; at += 97) {
    const bytes = Buffer.from(whole);
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 + (at % 255)), at);
    writeFileSync(file, bytes);
    said.add(unchangedBuild(callOf(old)));
  }
  expect(said).toEqual(new Set([undefined]));
  writeFileSync(file, whole);
  expect(unchangedBuild(callOf(old))).toBe(report);
});

test("a truncated journal is ignored", async () => {
  await built(callOf(old));
  const file = entry();
  const whole = readFileSync(file);
  for (let length = 0; length < whole.length; length += 311) {
    writeFileSync(file, whole.subarray(0, length));
    expect(unchangedBuild(callOf(old)), `${length}`).toBeUndefined();
  }
});

test("another command line or another relcat ignores the journal", async () => {
  await built();
  expect(unchangedBuild(callOf(path("releases"), ["build", "--json"]))).toBeUndefined();
  expect(unchangedBuild(callOf(path("releases"), ["build"], project))).toBeUndefined();
  expect(unchangedBuild(callOf())).toBe(report);
});

test("without a releases folder or a cache there is no journal", async () => {
  expect(beforeBuild({ ...callOf(), folder: path("none") })).toBeUndefined();
  writeFileSync(path("file"), "");
  expect(beforeBuild({ ...callOf(), cache: path("file") })).toBeUndefined();
  expect(unchangedBuild({ ...callOf(), cache: path("file") })).toBeUndefined();
});

const manifests = "releases/26.08.002/manifests";

/** Changes of a folder, and whether a build must notice them. */
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

test.each(changes)("a later build checks: %s", async (_, change, isSeen) => {
  await built();
  expect(unchangedBuild(callOf())).toBe(report);
  change();
  expect(unchangedBuild(callOf())).toBe(isSeen ? undefined : report);
  if (!isSeen) expect(unchangedBuild(callOf())).toBe(report);
});

test("a changed build.json with its old time is detected", async () => {
  await built();
  const document = path("dist/build.json");
  const { atime, mtime } = statSync(document);
  const text = readFileSync(document, "utf8");
  writeFileSync(document, text.replace('"files"', '"Files"'));
  utimesSync(document, atime, mtime);
  expect(unchangedBuild(callOf())).toBeUndefined();
});
