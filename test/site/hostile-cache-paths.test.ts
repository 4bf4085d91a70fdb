import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Cache } from "../../pipeline/journal/cache.ts";
import { lookAt } from "../../pipeline/journal/file-stats.ts";
import { outputTable } from "../../pipeline/journal/output-table.ts";
import { temporaryFolder } from "../support/run.ts";

/** A cache that an attacker wrote: a group of outputs with one path, and a look that fits the file there. */
function recalled(out: string, path: string, file: string) {
  const rows = [[path, "0".repeat(64), statSync(file).size, lookAt(file)]];
  const entry = `${JSON.stringify(["home", "key"])}\n${JSON.stringify(rows)}\n${Date.now() * 2}\n`;
  const begin = () => ({ add() {}, keep() {}, end() {} });
  const cache = { get: () => Buffer.from(entry), begin, clock: Date.now } as unknown as Cache;
  return outputTable(cache, out, "program").recall("home", "key");
}

const folder = temporaryFolder();
const out = join(folder, "a/b/dist");
mkdirSync(join(folder, "a/b/victim"), { recursive: true });
mkdirSync(join(out, "releases"), { recursive: true });
for (const file of ["a/b/victim/file", "a/b/dist/index.html"]) writeFileSync(join(folder, file), "x");
symlinkSync(join(folder, "a/b/victim"), join(out, "assets"));

test("a group of the cache is recalled where its files are as they were", () => {
  expect(recalled(out, "index.html", join(out, "index.html"))).toMatchObject([{ path: "index.html" }]);
});

test.each(["../victim/file", "releases/../../victim/file"])(
  "a group of the cache is made anew when it names %s, although the file looks as it says",
  (path) => {
    expect(recalled(out, path, join(folder, "a/b/victim/file"))).toBeUndefined();
  },
);

test("a group of the cache is made anew when a link leads out of the folder", () => {
  expect(recalled(out, "assets/file", join(out, "assets/file"))).toBeUndefined();
});
