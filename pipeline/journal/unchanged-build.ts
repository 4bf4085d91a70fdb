import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { digestOf } from "../system/files.ts";
import { cacheIn, type OnCacheFailure } from "./cache.ts";
import { isRecentlyChanged, isSameStatData, type MadeGroup, readStatData, statDataOf } from "./file-stats.ts";
import { areUnchanged, type Inputs, scanInputs } from "./inputs.ts";
import { journalLines, journalName, readJournalFile } from "./journal-file.ts";

export interface BuildCall {
  /** All arguments, because a different argument may mean a different build. */
  words: readonly string[];
  /** From `programIdentity`. */
  program: string;
  /** Folder where relcat is installed, with its templates and schemas. */
  own: string;
  /** The releases folder. */
  folder: string;
  out: string;
  cache: string;
  pid: number;
  /** Milliseconds since 1970. */
  clock: number;
  onCacheFailure?: OnCacheFailure | undefined;
}

/** Everything that a build needs to use its journal. */
export interface Remembering extends Pick<BuildCall, "cache" | "program"> {
  call: string;
  inputs: Inputs;
}

const callText = ({ words, program, own, folder, out }: BuildCall): string =>
  JSON.stringify([program, own, words, folder, out]);

/**
 * The report of the last build; undefined: an input or output may have changed. Compares stat data only, and runs before
 * the code that builds is loaded.
 */
export function unchangedBuild(call: BuildCall): unknown {
  try {
    return reportOfUnchanged(call);
  } catch {
    return undefined; // The build reports a journal or file that cannot be read.
  }
}

function reportOfUnchanged(call: BuildCall): unknown {
  const name = journalName(call.cache, call.out);
  const last = readJournalFile(call.cache, name);
  if (last?.head.call !== callText(call) || last.head.report === null) return undefined;
  const cache = cacheIn(call.cache, call.pid, call.clock);
  if (!cache) return undefined;
  const recordedAt = cache.clock();
  const inputs = scanInputs(inputFolders(call), recordedAt);
  if (!inputs || !areUnchanged(inputs, last.inputs)) return undefined;
  for (const [path, statData] of last.folders) {
    // biome-ignore lint/plugin: only its stat data are compared.
    const stat = lstatSync(`${call.out}/${path}`, { throwIfNoEntry: false });
    if (!stat?.isDirectory() || !isSameStatData(statDataOf(stat), statData)) return undefined;
  }
  const doubtful = changesSince(last.groups, call.out, last.head.recordedAt);
  if (doubtful === undefined) return undefined;
  // Notes the later time, so that the next run does not hash these files again.
  if (doubtful > 0 || inputs.folders.some(({ files }) => files.some(({ sha256 }) => sha256 !== null))) {
    const head = { ...last.head, recordedAt };
    cache.putPieces(name, journalLines({ ...last, head, inputs: { ...last.inputs, recordedAt } }));
  }
  return last.head.report;
}

/** @returns the number of outputs that had to be hashed; undefined if one has changed */
function changesSince(groups: Iterable<MadeGroup>, out: string, recordedAt: number): number | undefined {
  let hashed = 0;
  for (const { files, siblings } of groups) {
    for (const { path, sha256, statData } of [...files, ...siblings]) {
      // Not `join`, which takes longer than reading the stat data. A forged journal can name any file, to compare its digest alone.
      const file = `${out}/${path}`;
      const now = readStatData(file);
      if (!now || !isSameStatData(now, statData)) return undefined;
      if (!isRecentlyChanged(statData, recordedAt)) continue;
      hashed++;
      if (digestOf(file).sha256 !== sha256) return undefined;
    }
  }
  return hashed;
}

/**
 * The inputs of a build, as they are before it starts.
 * @returns undefined without a releases folder or a cache, and if links lead elsewhere: the build keeps no journal
 */
export function beforeBuild(call: BuildCall): Remembering | undefined {
  if (!lstatSync(call.folder, { throwIfNoEntry: false })) return undefined;
  const recordedAt = cacheIn(call.cache, call.pid, call.clock, call.onCacheFailure)?.clock();
  const inputs = recordedAt === undefined ? undefined : scanInputs(inputFolders(call), recordedAt);
  return inputs && { cache: call.cache, call: callText(call), program: call.program, inputs };
}

const inputFolders = ({ folder, own }: BuildCall): string[] => [
  folder,
  join(own, "templates"),
  join(own, "schemas"),
];

/**
 * Identifies the program by its version, its files and its Node, because another program may generate other
 * bytes. Names of bundled chunks are digests of their content, so these chunks are not read.
 */
export function programIdentity(version: string, node: string): string {
  return [version, node, import.meta.filename.endsWith(".ts") ? sourceDigest() : chunkNames()].join(" ");
}

const chunkNames = () =>
  readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith(".js"))
    .sort()
    .join(" ");

let digest: string | undefined;

/** Digest of the files that affect what a build generates; computed only once. */
function sourceDigest(): string {
  if (digest !== undefined) return digest;
  const hash = createHash("sha256");
  const entries = readdirSync(join(import.meta.dirname, ".."), { recursive: true, withFileTypes: true });
  // biome-ignore lint/plugin: names in the program's own folder.
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.sort()) hash.update(`${path}\0`).update(readFileSync(path));
  digest = hash.digest("hex");
  return digest;
}
