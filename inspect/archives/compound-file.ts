import { extend, openRuns, placesOf, type Run, runsSource, sizeOf } from "../bytes/byte-runs.ts";
import type { ByteSource, Uncovered } from "../bytes/byte-source.ts";
import { malformed, unsupported } from "../verdict.ts";

type Sectors = ReturnType<typeof sectors>;

interface Table {
  name: string;
  /** Ranges of the table, which maps each sector to the next one or to a special value. */
  runs: readonly Run[];
  count: number;
  size: number;
  /** Offset of a sector in the file. */
  place: (sector: number) => number;
}

/** More than the table of a file of 4 GiB. */
const maxStreamBytes = 1 << 25;

/**
 * Sectors of one size in linked chains; each belongs to at most one chain.
 * @param usedSectors sectors in use outside any chain: those of the tables
 * @throws Fault malformed
 */
function sectors(source: ByteSource, table: Table, usedSectors: readonly number[] = []) {
  const { name, count, size, place } = table;
  const next = numbersIn(wholeOf(source, table.runs, `the table of ${name}s`));
  const isUsed = new Uint8Array(count);
  for (const sector of usedSectors) isUsed[sector] = 1;
  const beyond = next.subarray(count);
  if (next.length < count || beyond.some((mark) => mark !== marks.free && mark !== marks.end))
    throw malformed(
      `the table of ${name}s has ${next.length} entries for ${count} of them, or uses some beyond`,
    );

  return {
    chain(first: number, what: string) {
      const runs: Run[] = [];
      let length = 0;
      for (let at = first; at !== marks.end; at = next[at] ?? marks.free) {
        if (at >= count) throw malformed(`${what} leads to the ${name} ${at}, and there are ${count}`);
        if (isUsed[at]) throw malformed(`${what} leads to the ${name} ${at}, which is in use already`);
        isUsed[at] = 1;
        extend(runs, place(at), size);
        length++;
      }
      return { runs, count: length };
    },
    /** Unused sectors and table entries. @throws Fault malformed, for a used sector that is in no chain */
    free(): Uncovered[] {
      const runs: Run[] = [];
      for (let sector = 0; sector < count; sector++) {
        if (isUsed[sector]) continue;
        if (next[sector] !== marks.free)
          throw malformed(`the ${name} ${sector} is in use, and belongs to nothing`);
        extend(runs, place(sector), size);
      }
      return [
        ...openRuns(runs, `a ${name} that is not in use`),
        ...openRuns(placesOf(table.runs, 4 * count, 4 * next.length), `entries of no ${name}`),
      ];
    },
  };
}

/** Reads all runs into memory. @throws Fault malformed, if they exceed the limit */
function wholeOf(source: ByteSource, runs: readonly Run[], what: string): Buffer {
  const content = runsSource(source, runs, what);
  if (content.size > maxStreamBytes)
    throw malformed(`${what} has ${content.size} bytes, expected ${maxStreamBytes} at most`);
  return Buffer.from(content.read(0, content.size));
}

function numbersIn(bytes: Buffer): Uint32Array {
  const numbers = new Uint32Array(bytes.length / 4);
  for (let index = 0; index < numbers.length; index++) numbers[index] = bytes.readUInt32LE(4 * index);
  return numbers;
}

function fileSectors(source: ByteSource, header: CompoundHeader): Sectors {
  const { sectorSize: size, sectors: count } = header;
  const place = (sector: number) => (sector + 1) * size;
  const table = (found: readonly number[]) => {
    const runs: Run[] = [];
    for (const sector of found) {
      if (sector >= count)
        throw malformed(`a table of the compound file is in sector ${sector}, and there are ${count}`);
      extend(runs, place(sector), size);
    }
    return runs;
  };
  const words = (found: readonly number[]) =>
    numbersIn(wholeOf(source, table(found), "the table of sectors"));
  const { fat, difat } = tableSectors(header, (sector) => words([sector]));
  const next = words(fat);
  refuseUnmarked(next, fat, marks.fat);
  refuseUnmarked(next, difat, marks.difat);
  return sectors(source, { name: "sector", runs: table(fat), count, size, place }, [...fat, ...difat]);
}

function refuseUnmarked(next: Uint32Array, tables: readonly number[], mark: number): void {
  const isTwice = new Set(tables).size !== tables.length;
  if (isTwice || tables.some((sector) => next[sector] !== mark))
    throw malformed("the compound file has a table in a sector that is not marked as one");
}

/** The first table sectors are listed in the header, the others in a chain (MS-CFB, 2.5). */
function tableSectors(
  { fat, difat, sectors: count }: CompoundHeader,
  words: (sector: number) => Uint32Array,
) {
  const listed = [...fat.inHeader];
  const chain: number[] = [];
  if (fat.count > count || difat.count > count)
    throw malformed("the compound file announces more tables than it has sectors");
  let at = difat.count === 0 ? marks.end : difat.first;
  for (; chain.length < difat.count; at = listed.pop() ?? marks.end) {
    chain.push(at);
    listed.push(...words(at));
  }
  if (difat.count > 0 && at !== marks.end && at !== marks.free)
    throw malformed("the list of tables has more sectors than announced");
  const [used, rest] = [listed.slice(0, fat.count), listed.slice(fat.count)];
  if (used.length < fat.count || rest.some((mark) => mark !== marks.free))
    throw malformed(`the compound file lists other tables than the ${fat.count} that it announces`);
  return { fat: used, difat: chain };
}

type CompoundHeader = ReturnType<typeof compoundHeader>;

const compoundMagic = Buffer.from("d0cf11e0a1b11ae1", "hex");
/** Special values of the sector table. */
const marks = { difat: 0xfffffffc, fat: 0xfffffffd, end: 0xfffffffe, free: 0xffffffff } as const;

const headerSize = 512;

/** The header of a compound file (MS-CFB, 2.2). Counts are in sectors. @throws Fault malformed; unsupported-format */
function compoundHeader(source: ByteSource) {
  const bytes = Buffer.from(source.read(0, headerSize));
  if (!bytes.subarray(0, 8).equals(compoundMagic)) throw unsupported(`${source.name} is not a compound file`);
  const word = (at: number) => bytes.readUInt16LE(at);
  const count = (at: number) => bytes.readUInt32LE(at);
  const isLong = word(26) === 4;
  const sectorSize = isLong ? 4096 : headerSize;
  const fixed: readonly [string, number, number][] = [
    ["the version", word(26), isLong ? 4 : 3],
    ["the byte order", word(28), 0xfffe],
    ["a sector size of 2 to the power of", word(30), isLong ? 12 : 9],
    ["a mini sector size of 2 to the power of", word(32), 6],
    ["for the limit of small streams", count(56), 4096],
  ];
  for (const [name, is, expected] of fixed) {
    if (is !== expected) throw malformed(`the compound file has ${name} ${is}, expected ${expected}`);
  }
  if ([...bytes.subarray(8, 24), ...bytes.subarray(34, 40)].some((byte) => byte !== 0))
    throw malformed("the compound file has something in the reserved bytes of its header, expected zeros");
  if (source.size % sectorSize !== 0 || source.size < 3 * sectorSize)
    throw malformed(`the compound file has ${source.size} bytes, expected whole sectors of ${sectorSize}`);
  return {
    sectorSize,
    isLong,
    sectors: source.size / sectorSize - 1,
    directory: { first: count(48), count: count(40) },
    fat: { inHeader: Array.from({ length: 109 }, (_, index) => count(76 + 4 * index)), count: count(44) },
    miniFat: { first: count(60), count: count(64) },
    difat: { first: count(68), count: count(72) },
    uncovered: unusedFields(count, sectorSize),
  };
}

function unusedFields(count: (at: number) => number, sectorSize: number): Uncovered[] {
  const why = "an unused field of the compound file's header";
  const unused = [
    { from: 24, to: 26, why },
    { from: 52, to: 56, why },
    // If the count is 0, the field with the first sector is meaningless.
    { from: 60, to: count(64) === 0 ? 64 : 60, why },
    { from: 68, to: count(72) === 0 ? 72 : 68, why },
    { from: headerSize, to: sectorSize, why },
  ];
  return unused.filter(({ from, to }) => from < to);
}

export type DirectoryEntry = NonNullable<ReturnType<typeof entryAt>>;

const entrySize = 128;
const none = 0xffffffff;
const kinds = new Map<number, "storage" | "stream" | "root">([
  [1, "storage"],
  [2, "stream"],
  [5, "root"],
]);
const maxStorageDepth = 16;

interface Folder {
  entry: DirectoryEntry;
  files: readonly (Folder | { entry: DirectoryEntry; files?: never })[];
}

/**
 * @returns the root, and the offsets of unused entries
 * @throws Fault malformed, for entries that are shared or unreachable, and for duplicate or unsorted names
 */
function directoryTree(bytes: Buffer, isLong: boolean): { root: Folder; unused: readonly number[] } {
  const count = Math.floor(bytes.length / entrySize);
  const entries = Array.from({ length: count }, (_, index) => entryAt(bytes, index * entrySize, isLong));
  const isMet = new Uint8Array(count);

  function* inOrder(top: number): Generator<DirectoryEntry> {
    const path: number[] = [];
    for (let at = top; at !== none || path.length > 0; ) {
      for (; at !== none; at = bytes.readUInt32LE(at * entrySize + 68)) {
        if (at >= count || isMet[at])
          throw malformed(`the directory leads to its entry ${at} twice, or there is none`);
        isMet[at] = 1;
        path.push(at);
      }
      at = path.pop() ?? 0;
      const entry = entries[at];
      if (!entry || entry.kind === "root")
        throw malformed(`the directory leads to its entry ${at}, which is not in use`);
      yield entry;
      at = bytes.readUInt32LE(at * entrySize + 72);
    }
  }

  function folder(entry: DirectoryEntry, depth: number): Folder {
    if (depth > maxStorageDepth) throw malformed(`the directory is deeper than ${maxStorageDepth} storages`);
    const files = [...inOrder(entry.child)];
    // Readers use binary search, so some of them would not find an unsorted name.
    const wrong = files.find(({ name }, index) => index > 0 && !isBefore(files[index - 1]?.name ?? "", name));
    if (wrong) throw malformed(`the directory has ${JSON.stringify(wrong.name)} twice or out of order`);
    return {
      entry,
      files: files.map((file) => (file.kind === "storage" ? folder(file, depth + 1) : { entry: file })),
    };
  }

  const [top] = entries;
  const hasSibling = bytes.readUInt32LE(68) !== none || bytes.readUInt32LE(72) !== none;
  if (top?.kind !== "root" || hasSibling) throw malformed("the directory does not begin with its root alone");
  isMet[0] = 1;
  const root = folder(top, 0);
  const lost = entries.findIndex((entry, index) => entry && !isMet[index]);
  if (lost !== -1) throw malformed(`the directory has an entry ${lost} that nothing leads to`);
  const unused = entries.flatMap((entry, index) => (entry ? [] : [index * entrySize]));
  return { root, unused };
}

/** A directory entry of a compound file (MS-CFB, 2.6.1); undefined if it is not in use. @param at in the directory stream */
function entryAt(bytes: Buffer, at: number, isLong: boolean) {
  const type = bytes[at + 66] ?? 0;
  if (type === 0) return undefined;
  const kind = kinds.get(type);
  const length = bytes.readUInt16LE(at + 64);
  const rawName = bytes.subarray(at, at + length - 2);
  const name = rawName.toString("utf16le");
  if (
    !kind ||
    length < 2 ||
    length > 64 ||
    length % 2 !== 0 ||
    name.includes("\0") ||
    bytes.readUInt16LE(at + length - 2) !== 0
  )
    throw malformed(`the directory has an entry at its byte ${at} with an invalid name or kind`);
  const child = bytes.readUInt32LE(at + 76);
  if (kind === "stream" && child !== none)
    throw malformed(`the directory has a stream with something inside at its byte ${at}`);
  // In version 3 files the upper half of a size is undefined (MS-CFB, 2.6.1).
  const size = bytes.readUInt32LE(at + 120) + (isLong ? bytes.readUInt32LE(at + 124) * 2 ** 32 : 0);
  return {
    at,
    kind,
    /** Encoded, without the terminating zero. */
    rawName,
    name,
    child,
    classId: bytes.subarray(at + 80, at + 96),
    /** State bits, creation time and modification time. */
    state: bytes.subarray(at + 96, at + 100),
    times: bytes.subarray(at + 100, at + 116),
    first: bytes.readUInt32LE(at + 116),
    size,
  };
}

/** Shorter names first, then by upper-case code units (MS-CFB, 2.6.4). */
function isBefore(one: string, other: string): boolean {
  if (one.length !== other.length) return one.length < other.length;
  return upper(one) < upper(other);
}

const upper = (name: string): string =>
  name.replace(/[^\0-`{-\x7f]/g, (unit) => (unit.toUpperCase().length === 1 ? unit.toUpperCase() : unit));

export interface Storage {
  entry: DirectoryEntry;
  /** Offset of the entry in the file. */
  place: number;
  streams: readonly Stream[];
  storages: readonly Storage[];
}

export interface Stream {
  entry: DirectoryEntry;
  place: number;
  content: ByteSource;
  runs: readonly Run[];
}

const miniSize = 64;
/** Streams below this size are stored in the mini stream. */
const miniLimit = 4096;

/**
 * Opens a compound file (MS-CFB), read strictly: every sector has one owner or is free.
 * @returns `uncovered`: bytes that are neither stream content nor a checked field
 * @throws Fault malformed; unsupported-format
 */
export function openCompoundFile(source: ByteSource) {
  const header = compoundHeader(source);
  const whole = fileSectors(source, header);
  const uncovered: Uncovered[] = [...header.uncovered];
  const directory = whole.chain(header.directory.first, "the directory");
  const expected = header.isLong ? directory.count : 0;
  if (header.directory.count !== expected)
    throw malformed(
      `the header announces a directory of ${header.directory.count} sectors, expected ${expected}`,
    );
  const { root, unused } = directoryTree(wholeOf(source, directory.runs, "the directory"), header.isLong);
  const mini = miniSectors(source, header, whole, root.entry);

  function stream(entry: DirectoryEntry): Stream {
    const isSmall = entry.size < miniLimit;
    const unit = isSmall ? miniSize : header.sectorSize;
    // An empty stream has no sectors, so the first-sector field of its entry is meaningless.
    const chain =
      entry.size === 0 ? { runs: [], count: 0 } : (isSmall ? mini : whole).chain(entry.first, named(entry));
    if (chain.count !== Math.ceil(entry.size / unit))
      throw malformed(`${named(entry)} has ${entry.size} bytes in ${chain.count} sectors of ${unit}`);
    const runs = placesOf(chain.runs, 0, entry.size);
    uncovered.push(
      ...openRuns(placesOf(chain.runs, entry.size, chain.count * unit), "after the end of a stream"),
    );
    return { entry, place: placeOf(entry), content: runsSource(source, runs, entry.name), runs };
  }
  const placeOf = ({ at }: { at: number }) => placesOf(directory.runs, at, at + entrySize)[0]?.from ?? 0;

  function storage({ entry, files }: Folder): Storage {
    const streams = files.filter(({ entry }) => entry.kind === "stream").map(({ entry }) => stream(entry));
    const storages = files.flatMap((file) => (file.files ? [storage(file)] : []));
    return { entry, place: placeOf(entry), streams, storages };
  }

  const top = storage(root);
  for (const at of unused) {
    const from = placeOf({ at });
    uncovered.push({ from, to: from + entrySize, why: "an entry of the directory that is not in use" });
  }
  return { root: top, uncovered: [...uncovered, ...mini.free(), ...whole.free()] };
}

/** Small streams have their own sectors, inside the root's stream. */
function miniSectors(
  source: ByteSource,
  { miniFat }: CompoundHeader,
  whole: Sectors,
  root: DirectoryEntry,
): Sectors {
  const table =
    miniFat.count === 0 ? { runs: [], count: 0 } : whole.chain(miniFat.first, "the table of mini sectors");
  if (table.count !== miniFat.count)
    throw malformed(
      `the table of mini sectors has ${table.count} sectors, and ${miniFat.count} are announced`,
    );
  const { runs } = root.size === 0 ? { runs: [] } : whole.chain(root.first, "the mini stream");
  if (root.size > sizeOf(runs) || root.size % miniSize !== 0)
    throw malformed(`the mini stream has ${sizeOf(runs)} bytes, and ${root.size} are announced`);
  const place = (sector: number) => placesOf(runs, sector * miniSize, (sector + 1) * miniSize)[0]?.from ?? 0;
  const count = root.size / miniSize;
  const found = sectors(source, { name: "mini sector", runs: table.runs, count, size: miniSize, place });
  const rest = placesOf(runs, root.size, sizeOf(runs));
  return { ...found, free: () => [...found.free(), ...openRuns(rest, "after the end of the mini stream")] };
}

const named = ({ name }: DirectoryEntry): string => `the stream ${JSON.stringify(name)}`;
