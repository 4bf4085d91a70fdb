import { join } from "node:path";
import { expect, test } from "vitest";
import { showBuilding } from "../../cli/catalog/build.ts";
import { type BuildProgress, build } from "../../pipeline/index.ts";
import { project, smallCatalog } from "../support/project.ts";

test("a build reports how many releases are done", async () => {
  const { folder } = project(smallCatalog);
  const reports: BuildProgress[] = [];
  const surroundings = {
    clock: 0,
    pid: 1,
    onWait: () => {},
    onProgress: (progress: BuildProgress) => void reports.push(progress),
  };
  await build(join(folder, "releases"), join(folder, "dist"), {}, surroundings);
  expect(reports).toEqual([
    { done: 1, total: 2 },
    { done: 2, total: 2 },
  ]);
});

/** Output if a release is done each half second. */
function shown(columns: number | undefined, quiet = false): string[] {
  const written: string[] = [];
  const messages = { write: (text: string) => written.push(text), style: () => "", columns };
  let time = 0;
  const progress = showBuilding({ messages, quiet }, () => time);
  for (let done = 1; done <= 4; done++) {
    time += 500;
    progress.onProgress({ done, total: 1000 });
  }
  progress.end();
  return written;
}

test("a terminal shows the progress after a second and clears it at the end", () => {
  expect(shown(80)).toEqual([
    "\rBuilding releases: 2 of 1000\x1b[K",
    "\rBuilding releases: 3 of 1000\x1b[K",
    "\rBuilding releases: 4 of 1000\x1b[K",
    "\r\x1b[K",
  ]);
});

test("--quiet and a standard error that is not a terminal show no progress", () => {
  expect(shown(undefined)).toEqual([]);
  expect(shown(80, true)).toEqual([]);
});
