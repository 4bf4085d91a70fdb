import { join } from "node:path";
import { median, medianRatio } from "../http/load.ts";
import type { Cost } from "../publish/measure.ts";
import { added, cold, nothing, sizeTitle, unchanged, wholeSite } from "./builds.ts";
import { makeProject } from "./catalog.ts";
import { ours } from "./contenders.ts";
import { installRevision, installWorkingTree, type Revision } from "./revision.ts";
import { type Entry, type Group, type Measured, measureRounds, repeated } from "./rounds.ts";

const works = [ours, cold, added, unchanged, nothing];

/**
 * Builds the same catalogs with the working tree and with another revision in turn.
 * @param revision anything that git resolves to a commit
 * @returns a table for each size: both revisions' medians, and the medians of the rounds' ratios
 */
export async function compareRevisions(
  revision: string,
  { folder, sizes, rounds }: { folder: string; sizes: readonly number[]; rounds: number },
): Promise<string> {
  const before = await installRevision(folder, revision);
  const now = await installWorkingTree(folder);
  const groups: Group[] = [];
  for (const size of sizes) {
    // The older revision cuts the catalog: the newer one reads what older ones wrote.
    const project = await makeProject(folder, size, before.relcat);
    const entries = [before, now].flatMap((each) => entriesOf(each, project, folder));
    groups.push({ title: sizeTitle(size), entries });
  }
  const results = await measureRounds(groups, rounds);
  const tables = [...results].map(([title, measured]) => `## ${title}\n\n${table(measured, before, now)}`);
  return `# ${now.name} against ${before.name}\n\n${tables.join("\n\n")}\n`;
}

const nameOf = (work: string, { name }: Revision): string => `${work}, ${name}`;

function entriesOf(revision: Revision, project: Parameters<typeof wholeSite>[0], folder: string): Entry[] {
  const outs = join(folder, "outs");
  const command = {
    argv: [process.execPath, revision.sameOutputs] as const,
    cwd: project.folder,
    env: { NODE_COMPILE_CACHE: join(folder, "compiled"), IN: project.folder },
  };
  const site = wholeSite(project, revision.relcat, folder);
  return [
    repeated(nameOf(ours, revision), command, outs),
    {
      run: async (round) =>
        Object.fromEntries(
          Object.entries(await site.run(round)).map(([work, cost]) => [nameOf(work, revision), cost]),
        ),
    },
  ];
}

function table(measured: Measured, before: Revision, now: Revision): string {
  return [
    `| | ${before.name}, s | ${now.name}, s | ÷ wall | ÷ CPU | ÷ peak memory | ${now.name}, MB |`,
    "|---|---|---|---|---|---|---|",
    ...works.map((work) => {
      const [earlier, later] = [before, now].map((each) => measured.get(nameOf(work, each)) ?? []);
      return `| ${work} | ${row(earlier ?? [], later ?? [])} |`;
    }),
  ].join("\n");
}

function row(earlier: readonly Cost[], later: readonly Cost[]): string {
  const values = (costs: readonly Cost[], key: keyof Cost) => costs.map((cost) => cost[key]);
  const ratio = (key: keyof Cost) => medianRatio(values(later, key), values(earlier, key)).toFixed(2);
  return [
    median(values(earlier, "wall")).toFixed(3),
    median(values(later, "wall")).toFixed(3),
    ratio("wall"),
    ratio("cpu"),
    ratio("peak"),
    (median(values(later, "peak")) / 1e6).toFixed(0),
  ].join(" | ");
}
