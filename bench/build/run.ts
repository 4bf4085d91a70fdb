import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { hardware, quietRounds } from "../http/machine.ts";
import { compareRevisions } from "./against.ts";
import { aims } from "./aims.ts";
import { buildsOf, coldBuild } from "./builds.ts";
import { makeProject } from "./catalog.ts";
import { type Field, gatherContenders } from "./contenders.ts";
import { lacking } from "./debian.ts";
import { feedFigures, feedsGroup } from "./feeds.ts";
import { hashingGroup } from "./hashing.ts";
import { installRelcat } from "./installed.ts";
import { aimsTable } from "./outcomes.ts";
import { commitOf } from "./revision.ts";
import { type Group, measureRounds } from "./rounds.ts";
import { startupGroup } from "./startup.ts";
import { groupTables } from "./tables.ts";

/**
 * `npm run bench [-- --rounds 5 --sizes 10,100,1000 --large --folder FOLDER]`: relcat's build beside what people would
 * write instead. A run over all sizes writes bench/RESULTS.md; the next run uses the catalogs in the folder again.
 * `npm run bench -- --against REV`: the working tree and another revision of relcat in turn, without other programs.
 */
const usual = { rounds: "5", sizes: "10,100,1000", folder: join(tmpdir(), "relcat-bench-build") };
const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: usual.rounds },
    sizes: { type: "string", default: usual.sizes },
    large: { type: "boolean", default: false },
    folder: { type: "string", default: usual.folder },
    against: { type: "string" },
  },
});
const folder = resolve(options.folder);
const rounds = Number(options.rounds);
const sizes = options.sizes.split(",").map(Number);
if (![rounds, ...sizes].every((count) => Number.isInteger(count) && count > 0))
  throw new Error("--rounds and --sizes take whole numbers above 0, such as --rounds 3 --sizes 10,100");
if (options.against !== undefined) commitOf(options.against);
const remedy = lacking(["time", "openssl", "findutils"]);
if (remedy) throw new Error(`nothing can be measured without it: ${remedy}`);

mkdirSync(folder, { recursive: true });
if (options.against === undefined) await measurePeers();
else {
  const tables = await compareRevisions(options.against, { folder, sizes, rounds });
  process.stdout.write(`${tables}\n${hardware()}; ${quietRounds()}.\n`);
}

async function measurePeers(): Promise<void> {
  const loadBefore = loadavg()[0] ?? 0;
  const relcat = await installRelcat(folder);
  const field = await gatherContenders(folder);
  for (const line of field.leftOut) process.stderr.write(`left out: ${line}\n`);
  const largest = Math.max(...sizes);
  const withFeeds = await makeProject(folder, largest, relcat, true);
  const feeds = await feedFigures(withFeeds, relcat);
  const all = [...(await groups(field, relcat)), feedsGroup(withFeeds, relcat, folder)];
  const results = await measureRounds(all, rounds);
  const text = `# The build

Written by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)}: ${hardware()}. Load average ${loadBefore.toFixed(1)} at the beginning, ${(loadavg()[0] ?? 0).toFixed(1)} at the end; ${quietRounds()}.
Medians of ${rounds} interleaved rounds after a warm-up round; ratios are medians of the rounds' ratios of wall time. Short runs are repeated in a row for about two seconds. The page cache is warm.

## Aims

${aimsTable(aims, results)}

${groupTables(results)}

${feeds}

${about(field)}
`;
  if (options.sizes === usual.sizes) writeFileSync(join(import.meta.dirname, "../RESULTS.md"), text);
  process.stdout.write(text);
}

async function groups(field: Field, relcat: string): Promise<Group[]> {
  const made: Group[] = [];
  for (const size of sizes) {
    const project = await makeProject(folder, size, relcat);
    made.push(await buildsOf(project, field, relcat, folder));
  }
  if (options.large) {
    const project = await makeProject(folder, 10_000, relcat);
    made.push(coldBuild(project, field, relcat, folder));
  }
  return [...made, startupGroup(relcat, folder), hashingGroup(relcat, folder)];
}

function about({ contenders, leftOut }: Field): string {
  return `## Who builds what

A release has 25 JSON manifests of one artifact, 1.6 KB each, and a release.yaml with a summary and four to eight notes in Markdown; its ids and dates are in a ledger. Out of these each contender makes the whole list, a JSON document per release and a page per release with its notes and downloads. The first round compares them: JSON by value, pages by words, links and emphasis. createrepo_c makes other lists, of as many rpms.
relcat runs all its checks for the same outputs; the others check next to nothing, the usual script shapes alone. Its whole site is what \`relcat build --released\` of the installed package writes: records, pages, feeds, checksums and compressed files besides; the same list and documents are in it.

${contenders.map(({ name, madeOf }) => `- ${name}: ${madeOf}`).join("\n")}
${leftOut.map((line) => `- left out: ${line}`).join("\n")}`.trimEnd();
}
