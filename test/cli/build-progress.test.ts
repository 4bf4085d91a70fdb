import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { showCount, showCountAtTerminal } from "../../cli/terminal/progress.ts";
import {
  artifactProblems,
  type BuildProgress,
  build,
  importCatalog,
  loadCatalog,
  openSettings,
  signSite,
} from "../../pipeline/index.ts";
import type { ReadProgress } from "../../pipeline/system/in-parallel.ts";
import { publishingProject } from "../publish/support.ts";
import { project, smallCatalog } from "../support/project.ts";

const twoReleases = [
  { done: 1, total: 2 },
  { done: 2, total: 2 },
];

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
  expect(reports).toEqual(twoReleases);
});

test("a check reports how many releases are read", async () => {
  const { folder } = project(smallCatalog);
  const reports: BuildProgress[] = [];
  await loadCatalog(join(folder, "releases"), {}, undefined, (progress) => reports.push(progress));
  expect(reports).toEqual(twoReleases);
});

test("a check of artifacts reports the bytes of those that are in the folder", async () => {
  const { folder } = project(smallCatalog);
  const catalog = await loadCatalog(join(folder, "releases"));
  const [first] = catalog.releases.flatMap(({ artifacts }) => artifacts);
  writeFileSync(join(folder, first?.file ?? ""), "not what the manifest says");
  const reports: ReadProgress[] = [];
  await artifactProblems(catalog, folder, { clock: 0, onProgress: (progress) => reports.push(progress) });
  expect(reports).toEqual([{ file: first?.file, done: 26, total: 26 }]);
});

test("signing reports how many files of the build are compared with the checkout", async () => {
  const { folder, secrets } = await publishingProject();
  const reports: BuildProgress[] = [];
  const surroundings = {
    pid: 1,
    onWait: () => {},
    onCompared: (progress: BuildProgress) => void reports.push(progress),
  };
  const options = { environment: secrets, now: Date.now() };
  await signSite(await openSettings(join(folder, "releases")), join(folder, "dist"), options, surroundings);
  const total = reports.length;
  expect(total).toBeGreaterThan(10);
  expect(reports).toEqual(Array.from({ length: total }, (_, index) => ({ done: index + 1, total })));
});

test("an import reports how many files are written, and none in a dry run", async () => {
  const live = project(smallCatalog);
  await live.succeed("build");
  const { folder } = project({ "releases/catalog.yaml": smallCatalog["releases/catalog.yaml"] ?? "" });
  const request = {
    source: join(live.folder, "dist/api/v1/package.json"),
    wire: {},
    downloadUrl: "https://downloads.example.com/{version}/{file}",
    resolveDownloads: false,
    resolveBase: undefined,
    nextId: undefined,
    acceptViolations: false,
  };
  const imported = async (dryRun: boolean) => {
    const reports: BuildProgress[] = [];
    const surroundings = { clock: Date.now(), pid: 1, onWait() {}, dryRun };
    const progress = { onLookup() {}, onWrite: (each: BuildProgress) => void reports.push(each) };
    const { plan } = await importCatalog(join(folder, "releases"), request, surroundings, progress);
    return { reports, total: plan.files.length };
  };
  expect((await imported(true)).reports).toEqual([]);
  const { reports, total } = await imported(false);
  expect(total).toBeGreaterThan(2);
  expect(reports).toEqual(Array.from({ length: total }, (_, index) => ({ done: index + 1, total })));
});

/** Output if an item is done each half second. */
function shown(columns: number | undefined, { quiet = false, last = 4, show = showCount } = {}): string[] {
  const written: string[] = [];
  const messages = { write: (text: string) => written.push(text), style: () => "", columns };
  let time = 0;
  const progress = show({ messages, quiet }, "Building", "releases", () => time);
  for (let done = 1; done <= last; done++) {
    time += 500;
    progress.onProgress({ done, total: 100 });
  }
  progress.end();
  return written;
}

test.each([showCount, showCountAtTerminal])(
  "a terminal shows count, rate and time left after a second",
  (show) => {
    expect(shown(80, { show })).toEqual([
      "\rBuilding: 2 of 100 releases, 2.0/s, 49 s left\x1b[K",
      "\rBuilding: 3 of 100 releases, 2.0/s, 49 s left\x1b[K",
      "\rBuilding: 4 of 100 releases, 2.0/s, 48 s left\x1b[K",
      "\r\x1b[K",
    ]);
  },
);

test("a narrow terminal gets a line that fits", () => {
  expect(shown(30)[0]).toBe("\rBuilding: 2 of 100 releases, \x1b[K");
});

test("elsewhere the network's work has a line every ten seconds, and other work has none", () => {
  expect(shown(undefined, { last: 39 })).toEqual(["Building: 20 of 100 releases\n"]);
  expect(shown(undefined, { last: 39, show: showCountAtTerminal })).toEqual([]);
});

test("--quiet shows no progress", () => {
  expect(shown(80, { quiet: true })).toEqual([]);
});
