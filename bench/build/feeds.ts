import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { added, cold, sizeTitle, unchanged, wholeSite } from "./builds.ts";
import { addRelease, configure, type Project, withdrawAdded } from "./catalog.ts";
import type { Entry, Group } from "./rounds.ts";

const nameOf = (name: string, hasFeeds: boolean): string => `${name}, feeds ${hasFeeds ? "on" : "off"}`;

/** Where the results have a release more, with and without package feeds. */
export const feedsOf = (releases: number) => ({
  title: `Package feeds, ${sizeTitle(releases)}`,
  addedOn: nameOf(added, true),
  addedOff: nameOf(added, false),
});

/** Builds of one catalog with and without package feeds: its manifests state the same in both. */
export function feedsGroup(project: Project, relcat: string, work: string): Group {
  return {
    title: feedsOf(project.releases).title,
    entries: [false, true].map((hasFeeds) => siteEntry(project, relcat, work, hasFeeds)),
  };
}

function siteEntry(project: Project, relcat: string, work: string, hasFeeds: boolean): Entry {
  const site = wholeSite(project, relcat, work);
  return {
    async run(round) {
      configure(project.folder, hasFeeds);
      const costs = await site.run(round);
      return Object.fromEntries(
        [cold, added, unchanged].map((name) => [
          nameOf(name, hasFeeds),
          costs[name] ?? { wall: Number.NaN, cpu: Number.NaN, peak: Number.NaN },
        ]),
      );
    },
  };
}

const folders = ["dists", "yum", "charts"];

/** Size and identity of each file of the feeds, by path. */
type Snapshot = ReadonlyMap<string, { size: number; inode: number }>;

/** Builds twice. @returns a table: the files of each feed, and those that one more release writes */
export async function feedFigures(project: Project, relcat: string): Promise<string> {
  const { folder } = project;
  const build = () =>
    execa(process.execPath, [relcat, "build", "--released"], { cwd: folder, timeout: 900_000 });
  configure(folder, true);
  withdrawAdded(project);
  await build();
  const before = snapshotOf(folder);
  addRelease(project);
  await build();
  const after = snapshotOf(folder);
  withdrawAdded(project);
  const rows = folders.map((name) => {
    const own = [...after].filter(([path]) => path.startsWith(`${name}/`));
    const written = own.filter(([path, { inode }]) => before.get(path)?.inode !== inode);
    return `| ${name}/ | ${countOf(own)} | ${countOf(written)} |`;
  });
  return [
    `## Files of the package feeds, ${sizeTitle(project.releases)}`,
    "",
    "A release has six debs for two suites, three rpms and a chart. An index names all of them, so one release more writes each index again; compressed indexes count too.",
    "",
    "| folder | files | MB | written for one release more | MB |",
    "|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function snapshotOf(folder: string): Snapshot {
  const dist = join(folder, "dist");
  const paths = folders.flatMap((name) =>
    readdirSync(join(dist, name), { recursive: true, encoding: "utf8" }).map((path) => join(name, path)),
  );
  return new Map(
    paths.flatMap((path) => {
      const stat = lstatSync(join(dist, path));
      return stat.isFile() ? [[path, { size: stat.size, inode: stat.ino }]] : [];
    }),
  );
}

const countOf = (files: readonly (readonly [string, { size: number }])[]): string =>
  `${files.length} | ${(files.reduce((sum, [, { size }]) => sum + size, 0) / 1e6).toFixed(1)}`;
