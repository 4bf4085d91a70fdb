import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../support/run.ts";

test("no dependency in the lockfile has engines, so that npm on any Node installs all of them without a warning", async () => {
  const file = join(repository, "package-lock.json");
  const lock = JSON.parse(readFileSync(file, "utf8"));
  expect(Object.keys(lock.packages).length).toBeGreaterThan(100);
  for (const [path, entry] of Object.entries<{ engines?: object }>(lock.packages))
    if (path !== "") delete entry.engines;
  await expect(`${JSON.stringify(lock, null, 2)}\n`).toMatchFileSnapshot(file);
});
