import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { refuseSpecial } from "../system/access-failure.ts";
import { entryBytes } from "./cache.ts";
import type { MadeFile, MadeGroup, StatData } from "./file-stats.ts";
import type { InputFile, InputFolder, Inputs } from "./inputs.ts";

/** Inputs and outputs of the last build into a folder. A build that finds nothing changed reads only this file. */
interface JournalFile {
  head: JournalHead;
  inputs: Inputs;
  /** Folders that contain folders. Their stat data change if someone replaces a subfolder by a link. */
  folders: readonly (readonly [path: string, statData: StatData])[];
  /** The site's files; the group with an empty name has build.json. */
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

export const journalName = (cache: string, out: string): string =>
  `journal-${relative(resolve(cache, ".."), resolve(out))
    .replaceAll(/[^\w.]+/g, "-")
    .slice(-80)}`;

type InputRow = readonly [name: string, statData: StatData, sha256: string | null];
type FileRow = readonly [path: string, sha256: string, size: number, statData: StatData];

const inputRow = ({ name, statData, sha256 }: InputFile): InputRow => [name, statData, sha256];
const fileRow = ({ path, sha256, size, statData }: MadeFile): FileRow => [path, sha256, size, statData];

export function* journalLines({ head, inputs, folders, groups }: JournalFile): Generator<Uint8Array> {
  const line = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`);
  yield line(head);
  yield line([inputs.recordedAt, inputs.folders.length]);
  for (const { path, files } of inputs.folders) yield line([path, files.map(inputRow)]);
  yield line(folders);
  for (const { name, key, files, siblings } of groups)
    yield line([name, key, files.map(fileRow), siblings.map(fileRow)]);
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

/** The only line whose form is the same in all versions of relcat. @throws if it is not JSON */
export const headOf = (bytes: Uint8Array): JournalHead => JSON.parse(linesOf(bytes).next().value ?? "");

/** @throws if the lines are not a journal */
export function parseJournal(bytes: Uint8Array): JournalFile {
  const lines = linesOf(bytes);
  const next = <T>(): T => JSON.parse(lines.next().value ?? "");
  const head = next<JournalHead>();
  const [recordedAt, count] = next<[number, number]>();
  const inputs = { recordedAt, folders: Array.from({ length: count }, () => inputFolder(next())) };
  const folders = next<JournalFile["folders"]>();
  const linesBefore = count + 3;
  // Parsed each time, so that not all of a large site's files are in memory at once.
  return { head, inputs, folders, groups: { [Symbol.iterator]: () => groupsOf(bytes, linesBefore) } };
}

const inputFolder = ([path, rows]: [string, InputRow[]]): InputFolder => ({
  path,
  files: rows.map(([name, statData, sha256]) => ({ name, statData, sha256 })),
});

function* groupsOf(bytes: Uint8Array, linesBefore: number): Generator<MadeGroup> {
  let number = 0;
  for (const line of linesOf(bytes)) {
    if (number++ < linesBefore) continue;
    const [name, key, files, siblings] = JSON.parse(line) as [string, string, FileRow[], FileRow[]];
    yield { name, key, files: files.map(madeFile), siblings: siblings.map(madeFile) };
  }
}

const madeFile = ([path, sha256, size, statData]: FileRow): MadeFile => ({ path, sha256, size, statData });

export function* linesOf(bytes: Uint8Array): Generator<string, undefined> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let start = 0, end: number; start < text.length; start = end + 1) {
    end = text.indexOf(10, start);
    if (end === -1) end = text.length;
    yield text.toString("utf8", start, end);
  }
  return undefined;
}
