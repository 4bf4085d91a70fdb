import type { Site } from "./build.ts";
import type { BuildMemory } from "./build-memory.ts";
import type { OutputFile, OutputGroup } from "./documents/published.ts";
import type { BuildDocument } from "./documents/site.ts";
import type { LedgerMark } from "./documents/site-state.ts";
import { largeTables } from "./emitters/hosting/table-size.ts";
import type { Known } from "./outside/place-files.ts";
import { openSiteFolder, type SiteFolder } from "./outside/site-folder.ts";

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
    for (const group of groupsOf(site)) {
      const made = recalled(group, target, memory) ?? make(group, target, memory);
      for (const { path, sha256, size } of made) files[path] = { sha256, size };
      compressing.add(made);
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

function* groupsOf({ leaves, indexes }: Site): Generator<OutputGroup> {
  yield* leaves;
  yield* indexes;
}

/** A group's files as an earlier build made them of the same. */
function recalled({ name, key }: OutputGroup, target: SiteFolder, memory: BuildMemory | undefined) {
  const known = memory?.outputs.recall(name, key);
  if (known) target.leave(known);
  return known;
}

function make({ name, key, files }: OutputGroup, target: SiteFolder, memory: BuildMemory | undefined) {
  const put = Array.from(files, (file) => ({ path: file.path, ...putWith(memory, name, file, target) }));
  memory?.outputs.keep(name, key, put);
  return put;
}

/** Puts a file into its place, where it is joined of parts, those that did not change as they lie there. */
function putWith(
  memory: BuildMemory | undefined,
  group: string,
  file: OutputFile,
  target: SiteFolder,
): Known {
  if (!file.parts || !memory) return target.put(file);
  const known = target.put(memory.parts.reusing(file, memory.outputs.untouched(group, file.path)));
  memory.parts.keep(file.path, known.sha256);
  return known;
}
