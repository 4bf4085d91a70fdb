import type { Site } from "./build.ts";
import type { BuildMemory } from "./build-memory.ts";
import type { OutputGroup, PublishedRelease } from "./documents/published.ts";
import type { BuildDocument } from "./documents/site.ts";
import type { LedgerMark } from "./documents/site-state.ts";
import { largeTables } from "./emitters/hosting/table-size.ts";
import type { MadeFile, OutputTable } from "./outside/output-table.ts";
import { fromBothEnds, startThread } from "./outside/second-thread.ts";
import { openSiteFolder, type SecondWriter, type SiteFolder } from "./outside/site-folder.ts";
import { threadFile } from "./outside/thread.ts";
import type { RenderSetting } from "./render-release.ts";

/** What a build changed in its folder. */
export interface Delivery {
  written: number;
  unchanged: number;
  removed: number;
  bytes: number;
  /** Files of hosting/ that soon are more than their host takes. */
  largeTables: { path: string; size: number }[];
}

/** What a build is told of, besides its site. */
interface Circumstances {
  /** Milliseconds since 1970. */
  clock: number;
  /** Commit whose files were built, when it is not what lies here. */
  at: string | undefined;
  ledger: LedgerMark;
}

/** Releases that have to be made, from which on a thread wins more than its start takes. */
const worthAThread = 60;

/** Writes a site into its folder, what others lead to first and build.json last. */
export async function deliverSite(
  site: Site,
  out: string,
  memory: BuildMemory | undefined,
  { clock, at, ledger }: Circumstances,
): Promise<Delivery> {
  const target = openSiteFolder(out, clock);
  const files: BuildDocument["files"] = {};
  const compressing = target.compressing(site.config.precompress, memory?.fragments);
  try {
    for await (const made of deliveredGroups(site, target, memory?.outputs, { folder: out, now: clock })) {
      for (const { path, sha256, size } of made) files[path] = { sha256, size };
      await compressing.add(made);
    }
    await compressing.finish();
  } finally {
    await compressing.stop();
  }
  // Only now does nothing link to them any more.
  const removed = target.removeAllBut(files);
  const document: BuildDocument = {
    schema_version: 1,
    base_url: site.config.baseUrl,
    provisional: site.provisional,
    ...(at !== undefined && { at }),
    ledger,
    files: Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  target.finish(`${JSON.stringify(document)}\n`);
  return { ...target.counts, removed, largeTables: largeTables(files) };
}

/** Makes each group's files, or finds them as an earlier build made them of the same. */
async function* deliveredGroups(
  { leaves, indexes, config, templates }: Site,
  target: SiteFolder,
  outputs: OutputTable | undefined,
  place: Pick<RenderSetting, "folder" | "now">,
): AsyncGenerator<readonly MadeFile[]> {
  const due: OutputGroup[] = [];
  for (const group of leaves) {
    const known = recalled(group, target, outputs);
    if (known) yield known;
    else due.push(group);
  }
  const releases = due.filter(({ release }) => release);
  if (releases.length < worthAThread) for (const group of due) yield made(group, target, outputs);
  else {
    for (const group of due) if (!group.release) yield made(group, target, outputs);
    yield* madeOnTwoThreads(releases, target, outputs, { ...place, config, templates });
  }
  for (const group of indexes) yield recalled(group, target, outputs) ?? made(group, target, outputs);
}

function recalled({ name, key }: OutputGroup, target: SiteFolder, outputs: OutputTable | undefined) {
  const known = outputs?.recall(name, key);
  if (known) target.leave(known);
  return known;
}

function made({ name, key, files }: OutputGroup, target: SiteFolder, outputs: OutputTable | undefined) {
  const put: MadeFile[] = [];
  for (const file of files) put.push({ path: file.path, ...target.put(file) });
  outputs?.keep(name, key, put);
  return put;
}

async function* madeOnTwoThreads(
  releases: readonly OutputGroup[],
  target: SiteFolder,
  outputs: OutputTable | undefined,
  setting: RenderSetting,
): AsyncGenerator<readonly MadeFile[]> {
  const program = threadFile(import.meta.url, "render-thread");
  const thread = startThread<PublishedRelease, ReturnType<SecondWriter["put"]>>(program, setting);
  const there = async ({ name, key, release }: OutputGroup): Promise<readonly MadeFile[]> => {
    const { made: put, counts } = await thread.ask((release as () => PublishedRelease)());
    target.count(counts);
    outputs?.keep(name, key, put);
    return put;
  };
  try {
    yield* fromBothEnds(releases, (group) => made(group, target, outputs), there);
  } finally {
    await thread.stop();
  }
}
