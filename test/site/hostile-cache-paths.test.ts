import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cacheIn } from "../../pipeline/journal/cache.ts";
import { noStatData, readStatData } from "../../pipeline/journal/file-stats.ts";
import { untouchedFiles } from "../../pipeline/journal/journal.ts";
import { copyProject, relcat, temporaryFolder } from "../support/run.ts";

const folder = temporaryFolder();
const out = join(folder, "a/b/dist");
mkdirSync(join(folder, "a/b/victim"), { recursive: true });
mkdirSync(join(out, "releases"), { recursive: true });
for (const file of ["a/b/victim/file", "a/b/dist/index.html"]) writeFileSync(join(folder, file), "x");
symlinkSync(join(folder, "a/b/victim"), join(out, "assets"));

/** Whether an attacker's row with a path and the file's own stat data is accepted. */
function isBelieved(path: string, file: string): boolean {
  const row = {
    path,
    sha256: "0".repeat(64),
    size: statSync(file).size,
    statData: readStatData(file) ?? noStatData,
  };
  return untouchedFiles(out, Date.now() * 2)(row);
}

test("a file of the journal counts as made if it is unchanged", () => {
  expect(isBelieved("index.html", join(out, "index.html"))).toBe(true);
});

test.each(["../victim/file", "releases/../../victim/file"])(
  "a file of the journal is built again if its path is %s, even if the file is unchanged",
  (path) => {
    expect(isBelieved(path, join(folder, "a/b/victim/file"))).toBe(false);
  },
);

test("a file of the journal is built again if a link leads out of the folder", () => {
  expect(isBelieved("assets/file", join(out, "assets/file"))).toBe(false);
});

test("a cache that is a link to a folder of other files removes none of them, however old they are", async () => {
  const project = copyProject("site/small");
  const other = join(folder, "a/b/old");
  writeFileSync(other, "x");
  utimesSync(other, 0, 0);
  symlinkSync(join(folder, "a"), join(project, ".relcat-cache"));
  const { exitCode } = await relcat(project, ["build"]);
  expect([exitCode, existsSync(other)]).toEqual([0, true]);
});

test("an entry is closed even if its temporary file cannot be removed", () => {
  const cache = temporaryFolder();
  const entry = cacheIn(cache, 1, Date.now())?.begin("abandoned");
  const isOpen = () =>
    readdirSync("/proc/self/fd", { withFileTypes: true }).some((link) => linkOf(link.name).startsWith(cache));
  expect(isOpen()).toBe(true);
  const [temporary = ""] = globSync(join(cache, "ab/abandoned.*"));
  rmSync(temporary);
  mkdirSync(temporary);
  entry?.end();
  expect(isOpen()).toBe(false);
});

/** The listing itself has a descriptor, which is closed by now. */
function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}
