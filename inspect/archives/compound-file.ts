import { openRuns, placesOf, type Run, runsSource, sizeOf } from "../bytes/byte-runs.ts";
import type { ByteSource } from "../bytes/byte-source.ts";
import type { Uncovered } from "../bytes/ranges.ts";
import { malformed } from "../verdict.ts";
import { type DirectoryEntry, directoryTree, entrySize, type Folder } from "./compound-file-directory.ts";
import { type CompoundHeader, compoundHeader } from "./compound-file-header.ts";
import { fileSectors, type Sectors, sectors, wholeOf } from "./compound-file-sectors.ts";

/** A compound file (MS-CFB), read strictly: every sector has one owner or is free. */
export interface CompoundFile {
  root: Storage;
  /** Bytes that are neither stream content nor a checked field. */
  uncovered: readonly Uncovered[];
}

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
  /** Ranges of the content in the file. */
  runs: readonly Run[];
}

const miniSize = 64;
/** Streams below this size are stored in the mini stream. */
const miniLimit = 4096;

/** @throws Fault malformed; unsupported-format */
export function openCompoundFile(source: ByteSource): CompoundFile {
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
