/** @module-tag long */
import {
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { unchangedBuild } from "../../pipeline/journal/unchanged-build.ts";
import { some } from "../support/effort.ts";
import { buildCallOf, buildWithJournal } from "../support/journal-build.ts";
import { copyProject, temporaryFolder } from "../support/run.ts";
import { differences, readSiblings, readTree, type Tree } from "../support/tree.ts";

let project: string;
let dist: string;
let made: Tree;

const callOf = () => buildCallOf(project);
const built = () => buildWithJournal(callOf());

const everything = () => new Map([...readTree(dist), ...readSiblings(dist)]);

beforeAll(async () => {
  project = copyProject(".");
  dist = join(project, "dist");
  await built();
  made = everything();
});

/** Flips a bit; size and modification time stay. */
function flip(path: string): void {
  const { atime, mtime } = statSync(path);
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  writeFileSync(path, bytes);
  utimesSync(path, atime, mtime);
}

/** Moves a file or folder away and leaves a link to it. */
function link(path: string): void {
  const away = join(temporaryFolder(), "moved");
  renameSync(path, away);
  symlinkSync(away, path);
}

const attacks: readonly [string, (path: string) => void][] = [
  ["deleted", (path) => rmSync(path)],
  ["emptied", (path) => writeFileSync(path, "")],
  ["edited and given its size and time back", flip],
  ["replaced by a link to itself", link],
];

/** One in every kind of folder, and of every kind of file. */
const outputs = [
  "index.html",
  "index.html.br",
  "api/v1/package/index.json",
  "api/v1/package/1/index.json",
  "releases/26.09.001/SHA256SUMS",
  "releases/26.09.001/index.html.gz",
];

test.each(some(attacks, 2))("a build makes an output again that was %s", async (_, attack) => {
  for (const path of outputs) {
    expect(unchangedBuild(callOf()), path).toBe("nothing to do");
    attack(join(dist, path));
    expect(unchangedBuild(callOf()), path).toBeUndefined();
    await built();
    expect(differences(everything(), made), path).toEqual([]);
    expect(lstatSync(join(dist, path)).isFile(), path).toBe(true);
  }
});

test.each(some(["api", "api/v1/package/1", "releases/26.09.001"], 3))(
  "a build makes the folder %s again that was replaced by a link",
  async (path) => {
    const target = join(dist, path);
    link(target);
    const before = lstatSync(target).isSymbolicLink() && readTree(`${target}/`);
    expect(unchangedBuild(callOf())).toBeUndefined();
    await built();
    expect(lstatSync(target).isDirectory()).toBe(true);
    expect(differences(everything(), made)).toEqual([]);
    expect(before && differences(readTree(target), before)).toEqual([]);
  },
);

test("a build makes an output again that was edited during the last build", async () => {
  rmSync(dist, { recursive: true });
  await buildWithJournal(callOf(), () => {
    flip(join(dist, "api/v1/package/1/index.json"));
    return "nothing to do";
  });
  expect(unchangedBuild(callOf())).toBeUndefined();
  await built();
  expect(differences(everything(), made)).toEqual([]);
});

test("a build without its cache makes compressed outputs again in spite of their time", async () => {
  flip(join(dist, "index.html.gz"));
  flip(join(dist, "index.html.br"));
  rmSync(callOf().cache, { recursive: true });
  await built();
  expect(differences(everything(), made)).toEqual([]);
});
