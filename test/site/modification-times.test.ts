import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { modificationTime } from "../../pipeline/site/stores/render-files.ts";
import { copyProject, relcat } from "../support/run.ts";

const times = (folder: string) =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith(".relcat"))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length + 1), statSync(path).mtimeMs]),
  );

test("unchanged files keep their time, and changed ones get a later one by at least a second", async () => {
  const folder = copyProject("site/small");
  const dist = join(folder, "dist");
  await relcat(folder, ["build"]);
  const before = times(dist);
  for (const time of before.values()) expect(time % 1000).toBe(0);

  const release = join(folder, "releases/26.07.001/release.yaml");
  writeFileSync(release, readFileSync(release, "utf8").replace("slow disk", "very slow disk"));
  await relcat(folder, ["build"]);
  const after = times(dist);
  const changed = [...after.keys()].filter((path) => after.get(path) !== before.get(path));
  expect(changed).toContain("api/v1/release/26.07.001/index.json");
  expect(changed).not.toContain("api/v1/package/index.json");
  expect(changed).not.toContain("releases/26.08.002/index.html");
  for (const path of changed)
    expect((after.get(path) ?? 0) - (before.get(path) ?? 0)).toBeGreaterThanOrEqual(1000);
});

test("a file with a date in the future gets a later one when it changes", async () => {
  const folder = copyProject("site/small");
  await relcat(folder, ["build"]);
  const notes = join(folder, "dist/releases/26.07.001/notes.md");
  const future = Math.floor(Date.now() / 1000) + 86_400;
  utimesSync(notes, future, future);
  const release = join(folder, "releases/26.07.001/release.yaml");
  writeFileSync(release, readFileSync(release, "utf8").replace("slow disk", "busy disk"));
  await relcat(folder, ["build"]);
  expect(statSync(notes).mtimeMs / 1000).toBeGreaterThan(future);
});

test("two representations of one resource never have the same time", () => {
  const kinds = [
    "api/v1/package/index.json",
    "api/v1/package/index.html",
    "api/v1/package/ordering=-id.json",
    "api/v1/package/gone.json",
  ];
  const moment = fc.integer({ min: 0, max: 4_000_000_000_000 });
  fc.assert(
    fc.property(moment, moment, fc.option(moment), (nowA, nowB, old) => {
      const seconds = kinds.map((kind, index) =>
        modificationTime(kind, index % 2 ? nowA : nowB, old ?? undefined),
      );
      expect(new Set(seconds.map((second) => second % 4)).size).toBe(4);
      for (const [index, second] of seconds.entries()) {
        expect(Number.isInteger(second)).toBe(true);
        expect(second).toBeGreaterThanOrEqual(Math.floor((index % 2 ? nowA : nowB) / 1000));
        if (old !== null) expect(second).toBeGreaterThan(old / 1000);
      }
    }),
  );
});
