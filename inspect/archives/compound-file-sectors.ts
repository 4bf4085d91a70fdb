import { extend, openRuns, placesOf, type Run, runsSource } from "../bytes/byte-runs.ts";
import type { ByteSource, Uncovered } from "../bytes/byte-source.ts";
import { malformed, unsupported } from "../verdict.ts";

export type Sectors = ReturnType<typeof sectors>;

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
export function sectors(source: ByteSource, table: Table, usedSectors: readonly number[] = []) {
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
export function wholeOf(source: ByteSource, runs: readonly Run[], what: string): Buffer {
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

export function fileSectors(source: ByteSource, header: CompoundHeader): Sectors {
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

export type CompoundHeader = ReturnType<typeof compoundHeader>;

const compoundMagic = Buffer.from("d0cf11e0a1b11ae1", "hex");
/** Special values of the sector table. */
const marks = { difat: 0xfffffffc, fat: 0xfffffffd, end: 0xfffffffe, free: 0xffffffff } as const;

const size = 512;

/** The header of a compound file (MS-CFB, 2.2). Counts are in sectors. @throws Fault malformed; unsupported-format */
export function compoundHeader(source: ByteSource) {
  const bytes = Buffer.from(source.read(0, size));
  if (!bytes.subarray(0, 8).equals(compoundMagic)) throw unsupported(`${source.name} is not a compound file`);
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
