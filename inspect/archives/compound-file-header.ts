import type { ByteSource } from "../bytes/byte-source.ts";
import type { Uncovered } from "../bytes/ranges.ts";
import { Fault, malformed } from "../verdict.ts";

/** The header of a compound file (MS-CFB, 2.2). Counts are in sectors. */
export interface CompoundHeader {
  sectorSize: number;
  isLong: boolean;
  sectors: number;
  directory: { first: number; count: number };
  fat: { inHeader: readonly number[]; count: number };
  miniFat: { first: number; count: number };
  difat: { first: number; count: number };
  uncovered: readonly Uncovered[];
}

const compoundMagic = Buffer.from("d0cf11e0a1b11ae1", "hex");
/** Special values of the sector table. */
export const marks = { difat: 0xfffffffc, fat: 0xfffffffd, end: 0xfffffffe, free: 0xffffffff } as const;

const size = 512;

/** @throws Fault malformed; unsupported-format */
export function compoundHeader(source: ByteSource): CompoundHeader {
  const bytes = Buffer.from(source.read(0, size));
  if (!bytes.subarray(0, 8).equals(compoundMagic))
    throw new Fault("unsupported-format", `${source.name} is not a compound file`);
  const word = (at: number) => bytes.readUInt16LE(at);
  const count = (at: number) => bytes.readUInt32LE(at);
  const isLong = word(26) === 4;
  const sectorSize = isLong ? 4096 : size;
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
    uncovered: uncoveredIn(count, sectorSize),
  };
}

function uncoveredIn(count: (at: number) => number, sectorSize: number): Uncovered[] {
  const unread: [number, number][] = [
    [24, 26],
    [52, 56],
  ];
  // If the count is 0, the field with the first sector is meaningless.
  if (count(64) === 0) unread.push([60, 64]);
  if (count(72) === 0) unread.push([68, 72]);
  if (sectorSize > size) unread.push([size, sectorSize]);
  return unread.map(([from, to]) => ({
    from,
    to,
    why: "an unused field of the compound file's header",
  }));
}
