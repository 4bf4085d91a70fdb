import { lineOf } from "../../shared/version.ts";
import type {
  OutputFile,
  PublishedRelease,
  RenderedRelease,
  SearchedFile,
  SearchSlice,
} from "../documents/published.ts";
import { searchPaths } from "../documents/site-paths.ts";
import { visible } from "./escape.ts";
import { jsonFile } from "./output.ts";
import { plainText } from "./plain-text.ts";

/** A file that can be found by its checksum: version, id, name, and 1 if it was withdrawn. */
type HashRow = readonly [checksum: string, version: string, id: number, name: string, withdrawn: 0 | 1];

type NotesRow = readonly [version: string, texts: readonly string[]];

/** Bytes of a file with notes, roughly. */
const maxNoteBytes = 60_000;

export const searchSlice = ({ packages, summary, notes }: PublishedRelease): SearchSlice => ({
  files: packages.map(({ file, record: { id, name, checksum } }) => searched({ id, name, file, checksum })),
  notes: [
    ...(summary === null ? [] : [plainText(summary)]),
    ...notes.map(({ text, refs }) => [plainText(text), ...refs].join(" ")),
  ].map((text) => visible(text.replace(/\s+/g, " "))),
});

/** @returns the names as pages show them, and no file if it has the name of its record */
const searched = ({ id, name, file, checksum }: SearchedFile): SearchedFile => {
  return { id, name: visible(name), file: file === name ? "" : visible(file), checksum };
};

/** With the name of the file, if the record has another name. */
const foundName = ({ name, file }: Pick<SearchedFile, "name" | "file">): string =>
  file === "" ? name : `${name} (${file})`;

/**
 * The index of the search page, in parts, so that a search loads little of it: versions and file names; checksums,
 * withdrawn ones too, by their first two digits; notes by month.
 * @param releases newest first
 */
export function* searchFiles(releases: readonly RenderedRelease[]): Generator<OutputFile> {
  const files: FilesOfRelease[] = [];
  const parts: string[] = [];
  for (const [part, rows] of notesByMonth(readNotes(releases, files))) {
    parts.push(part);
    yield jsonFile(searchPaths.notes(part), { releases: rows });
  }
  const rows = files.flatMap(({ version, listed, withdrawn }) => [
    ...listed.map((file) => hashRow(version, file, 0)),
    ...withdrawn.map((file) => hashRow(version, file, 1)),
  ]);
  for (const [prefix, bucket] of bucketsOf(rows, checksumDigits(rows.length)))
    yield jsonFile(searchPaths.hashes(prefix), { files: bucket });
  yield jsonFile(searchPaths.index, { schema_version: 1, ...directoryOf(files), notes: parts });
}

const hashRow = (version: string, file: SearchedFile, withdrawn: 0 | 1): HashRow => [
  file.checksum,
  version,
  file.id,
  foundName(file),
  withdrawn,
];

interface FilesOfRelease {
  version: string;
  listed: readonly SearchedFile[];
  withdrawn: readonly SearchedFile[];
}

/** Reads each release once: its notes are forgotten after their file, and its files are added to `files`. */
function* readNotes(releases: readonly RenderedRelease[], files: FilesOfRelease[]): Generator<NotesRow> {
  for (const { version, retracted, slices } of releases) {
    const { files: listed, notes } = slices.search();
    files.push({ version, listed, withdrawn: retracted.map(searched) });
    yield [version, notes];
  }
}

/** Files with checksums have about this many rows. */
const rowsPerBucket = 400;

/** How many digits split checksums into files. @param count of records, withdrawn ones included */
export const checksumDigits = (count: number): number =>
  [0, 1].find((digits) => count <= rowsPerBucket * 16 ** digits) ?? 2;

/** Empty ones too, so that the answer for an unknown checksum is not an error. */
function bucketsOf(rows: readonly HashRow[], digits: number): Map<string, HashRow[]> {
  const known = rows.filter(([checksum]) => /^[0-9a-f]{64}$/.test(checksum));
  const prefixes = Array.from({ length: 16 ** digits }, (_, index) =>
    digits === 0 ? "" : index.toString(16).padStart(digits, "0"),
  );
  const buckets = new Map(prefixes.map((prefix): [string, HashRow[]] => [prefix, []]));
  for (const row of known.sort(byChecksum)) buckets.get(row[0].slice(0, digits))?.push(row);
  return buckets;
}

const byChecksum = ([a, , id]: HashRow, [b, , other]: HashRow): number =>
  a === b ? id - other : a < b ? -1 : 1;

/**
 * Versions with their files. Names repeat from version to version, so the index has each once, with a null character in
 * place of the version; a file is two numbers: its name, and the difference of its id from the previous one.
 */
function directoryOf(releases: readonly FilesOfRelease[]) {
  const names = new Map<string, number>();
  let last = 0;
  const packed = (version: string, files: readonly SearchedFile[]): number[] =>
    files.flatMap((file) => {
      const pattern = foundName(file).replaceAll(version, "\0");
      const number = names.get(pattern) ?? names.size;
      names.set(pattern, number);
      const step = file.id - last;
      last = file.id;
      return [number, step];
    });
  const rows = releases.map(({ version, listed, withdrawn }) => {
    const row = [version, packed(version, listed)];
    return withdrawn.length > 0 ? [...row, packed(version, withdrawn)] : row;
  });
  return { names: [...names.keys()], releases: rows };
}

/** Parts of months, newest first, one at a time; a month with many notes has several. */
function* notesByMonth(releases: Iterable<NotesRow>): Generator<[part: string, rows: NotesRow[]]> {
  let [month, number, size] = ["", 1, 0];
  let rows: NotesRow[] = [];
  const part = (): [string, NotesRow[]][] =>
    rows.length === 0 ? [] : [[number === 1 ? month : `${month}-${number}`, rows]];
  for (const row of releases) {
    const [version, notes] = row;
    if (notes.length === 0) continue;
    const length = notes.reduce((sum, text) => sum + text.length, version.length);
    const isNewMonth = lineOf(version) !== month;
    if (isNewMonth || size + length > maxNoteBytes) {
      yield* part();
      [month, number, size, rows] = [lineOf(version), isNewMonth ? 1 : number + 1, 0, []];
    }
    rows.push(row);
    size += length;
  }
  yield* part();
}
