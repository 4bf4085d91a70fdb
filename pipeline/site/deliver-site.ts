import type { OutputFile, OutputGroup } from "../documents/published.ts";
import type { BuildDocument } from "../documents/site.ts";
import type { LedgerMark } from "../documents/site-state.ts";
import type { BuildMemory } from "../journal/build-memory.ts";
import { collectMuch } from "../journal/heap.ts";
import { type MadeFiles, madeFiles } from "../journal/made-files.ts";
import type { MadeFile } from "../journal/output-table.ts";
import { largeTables } from "./hosting/table-size.ts";
import { joinedFile } from "./output.ts";
import type { Site } from "./site.ts";
import { openSiteFolder, type SiteFolder } from "./stores/site-folder.ts";

/** What a build changed in its folder. */
export interface Delivery {
  written: number;
  unchanged: number;
  removed: number;
  bytes: number;
  /** Files of hosting/ that soon are more than their host takes. */
  largeTables: { path: string; size: number }[];
  /** All files of the site, with build.json and the compressed siblings. */
  made: MadeFiles;
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
  const files = madeFiles();
  const tooLarge: Delivery["largeTables"] = [];
  const untouched = (path: string) => memory?.outputs.untouched(siblingGroup, path);
  const compressing = target.compressing(site.config.precompress, memory?.fragments, untouched);
  let siblings: MadeFile[];
  try {
    for (const group of groupsOf(site)) {
      const made = recalled(group, target, memory) ?? make(group, target, memory);
      files.add(made);
      tooLarge.push(...largeTables(made));
      compressing.add(made);
      collectMuch();
    }
    siblings = await compressing.finish();
  } finally {
    await compressing.stop();
  }
  // Only now does nothing link to them any more.
  const removed = target.removeAllBut(files.paths);
  const head = {
    schema_version: 1,
    base_url: site.config.baseUrl,
    provisional: site.provisional,
    ...(at !== undefined && { at }),
    ledger,
  } as const;
  const document = target.finish(joinedFile("build.json", () => buildDocument(head, files.sorted())));
  memory?.outputs.keep(siblingGroup, "", siblings);
  files.add([document, ...siblings]);
  return { ...target.counts, removed, largeTables: tooLarge, made: files };
}

/** The name of no other group: those of files have one that says what is in them. */
const siblingGroup = "compressed siblings";

/** What JSON.stringify makes of the whole, a file at a time. */
function* buildDocument(
  head: Omit<BuildDocument, "files">,
  files: Iterable<Omit<MadeFile, "look">>,
): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"files":{`;
  let comma = "";
  for (const { path, sha256, size } of files) {
    yield `${comma}${JSON.stringify(path)}:${JSON.stringify({ sha256, size })}`;
    comma = ",";
  }
  yield "}}\n";
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
  if (!memory) return target.put(files);
  const put = target.put(reusingParts(files, name, memory));
  memory.outputs.keep(name, key, put);
  for (const { path, sha256 } of put) memory.parts.keep(path, sha256);
  return put;
}

function* reusingParts(
  files: Iterable<OutputFile>,
  group: string,
  { parts, outputs }: BuildMemory,
): Generator<OutputFile> {
  for (const file of files)
    yield file.parts ? parts.reusing(file, outputs.untouched(group, file.path)?.sha256) : file;
}
