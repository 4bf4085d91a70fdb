import { openRuns, placesOf, type Run, runsSource, sizeOf } from "../bytes/byte-runs.ts";
import type { ByteSource, Uncovered } from "../bytes/byte-source.ts";
import { malformed } from "../verdict.ts";
import {
  type CompoundHeader,
  compoundHeader,
  fileSectors,
  type Sectors,
  sectors,
  wholeOf,
} from "./compound-file-sectors.ts";

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
    for (const [index, file] of files.entries()) refuseDisorder(files[index - 1], file);
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

/** Readers use binary search, so some of them would not find an unsorted name. */
function refuseDisorder(before: DirectoryEntry | undefined, after: DirectoryEntry): void {
  if (before && !isBefore(before.name, after.name))
    throw malformed(`the directory has ${JSON.stringify(after.name)} twice or out of order`);
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
