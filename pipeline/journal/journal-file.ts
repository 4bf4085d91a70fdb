import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { refuseSpecial } from "../system/access-failure.ts";
import { entryBytes } from "./cache.ts";
import type { MadeFile, MadeGroup, StatData } from "./file-stats.ts";
import type { Input, Inputs } from "./inputs.ts";

/**
 * State of the inputs and outputs of the last build into a folder. A build that finds nothing changed reads
 * only this file.
 */
export interface JournalFile {
  head: JournalHead;
  inputs: Inputs;
  /**
   * Folders of the site that contain folders. Their stat data change if someone replaces a subfolder by a link.
   */
  folders: readonly (readonly [path: string, statData: StatData])[];
  /** The site's files; the group with an empty name has build.json and the compressed siblings. */
  groups: Iterable<MadeGroup>;
}

export interface JournalHead {
  /** The command line, the program and the folders. */
  call: string;
  /** The program alone. */
  program: string;
  /** Time at which the outputs were inspected, in milliseconds since 1970. */
  recordedAt: number;
  /** Report of the command, which the next build prints again if it finds nothing changed. */
  report: unknown;
}

/** Key of the journal in the cache. */
export const journalName = (cache: string, out: string): string =>
  `journal-${relative(resolve(cache, ".."), resolve(out))
    .replaceAll(/[^\w.]+/g, "-")
    .slice(-80)}`;

/** Key of the journal's second file, which has the outlines of the releases. */
export const outlinesName = (journal: string): string => `outlines-${journal}`;

type InputRow = readonly [path: string, statData: StatData, sha256: string | null];
type FileRow = readonly [path: string, sha256: string, size: number, statData: StatData];

export function* journalLines({ head, inputs, folders, groups }: JournalFile): Generator<Uint8Array> {
  const line = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`);
  yield line(head);
  yield line([
    inputs.recordedAt,
    inputs.rows.map(({ path, statData, sha256 }): InputRow => [path, statData, sha256]),
  ]);
  yield line(folders);
  for (const { name, key, files } of groups)
    yield line([
      name,
      key,
      files.map(({ path, sha256, size, statData }): FileRow => [path, sha256, size, statData]),
    ]);
}

/** @returns undefined if the journal is missing or damaged @throws if its file cannot be read */
export function readJournalFile(cache: string, name: string): JournalFile | undefined {
  let bytes: Uint8Array | undefined;
  try {
    // biome-ignore lint/plugin: the name has letters, digits, dots and hyphens alone.
    const path = join(cache, name.slice(0, 2), name);
    refuseSpecial(path);
    bytes = entryBytes(name, readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return bytes && parseJournal(bytes);
}

/** @throws if the lines are not a journal */
export function parseJournal(bytes: Uint8Array): JournalFile {
  const lines = linesOf(bytes);
  const next = <T>(): T => JSON.parse(lines.next().value ?? "");
  const head = next<JournalHead>();
  const [recordedAt, rows] = next<[number, InputRow[]]>();
  const inputs = {
    recordedAt,
    rows: rows.map(([path, statData, sha256]): Input => ({ path, statData, sha256 })),
  };
  const folders = next<JournalFile["folders"]>();
  // Parsed each time, so that not all of a large site's files are in memory at once.
  return { head, inputs, folders, groups: { [Symbol.iterator]: () => groupsOf(bytes) } };
}

/** Lines before those of the groups. */
const headLines = 3;

function* groupsOf(bytes: Uint8Array): Generator<MadeGroup> {
  let number = 0;
  for (const line of linesOf(bytes)) {
    if (number++ < headLines) continue;
    const [name, key, files] = JSON.parse(line) as [string, string, FileRow[]];
    yield {
      name,
      key,
      files: files.map(([path, sha256, size, statData]): MadeFile => ({ path, sha256, size, statData })),
    };
  }
}

export function* linesOf(bytes: Uint8Array): Generator<string, undefined> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let start = 0, end: number; start < text.length; start = end + 1) {
    end = text.indexOf(10, start);
    if (end === -1) end = text.length;
    yield text.toString("utf8", start, end);
  }
  return undefined;
}
