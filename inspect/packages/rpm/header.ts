import { areZeros, type ByteSource } from "../../bytes/byte-source.ts";
import { malformed, refused } from "../../verdict.ts";

/** Tags and their values (https://rpm-software-management.github.io/rpm/manual/format_header.html). */
export interface RpmHeader {
  /** Start offset, inclusive, and end offset, exclusive, in the file. */
  from: number;
  to: number;
  tags: ReadonlyMap<number, RpmValue>;
  /** In the order of the header. A header that nothing signs may have a tag several times. */
  entries: readonly (RpmValue & { tag: number })[];
}

export interface RpmValue {
  type: RpmType;
  count: number;
  /** Offset of the value in the file. */
  at: number;
  bytes: Buffer;
}

/** Differences between the two headers of a package. */
interface RpmHeaderKind {
  name: string;
  /** The tag whose value ends the header and contains the number of its tags. */
  region: number;
  /** True if nothing signs this header; then gaps between its values are rejected. */
  isBare: boolean;
}

export const rpmTypes = {
  char: 1,
  int8: 2,
  int16: 3,
  int32: 4,
  int64: 5,
  text: 6,
  binary: 7,
  texts: 8,
  translated: 9,
} as const;
export type RpmType = (typeof rpmTypes)[keyof typeof rpmTypes];

const sizes = new Map<number, number>([
  [rpmTypes.char, 1],
  [rpmTypes.int8, 1],
  [rpmTypes.int16, 2],
  [rpmTypes.int32, 4],
  [rpmTypes.int64, 8],
  [rpmTypes.binary, 1],
]);
const types = new Map<number, RpmType>(Object.values(rpmTypes).map((type) => [type, type]));

const magic = Buffer.from("8eade80100000000", "hex");
const preamble = 16;
const entrySize = 16;

/** Offset of the number of the tag with this position, counted after the region's own. */
export const tagNumberAt = ({ from }: RpmHeader, position: number): number =>
  from + preamble + (position + 1) * entrySize;

/** rpm's own limit of 65,535 tags. rpm allows 256 MiB of values; 32 MiB lists a million files. */
const headerLimits = { tags: 0xffff, bytes: 32 << 20 };

/** @throws Fault malformed; refuse, if it is far larger than any package needs */
export function readRpmHeader(source: ByteSource, from: number, kind: RpmHeaderKind): RpmHeader {
  const start = Buffer.from(source.read(from, preamble));
  if (!start.subarray(0, magic.length).equals(magic))
    throw malformed(`no ${kind.name} begins at byte ${from}`);
  const [count, size] = [start.readUInt32BE(8), start.readUInt32BE(12)];
  if (count > headerLimits.tags || size > headerLimits.bytes)
    throw refused(
      `the ${kind.name} has ${count} tags and ${size} bytes, expected ${headerLimits.tags} and ${headerLimits.bytes} at most`,
    );
  const indexSize = count * entrySize;
  const bytes = Buffer.from(source.read(from + preamble, indexSize + size));
  const index = Array.from({ length: count }, (_, place) => entryAt(bytes, place * entrySize));
  const end = refuseOtherRegion(index, bytes, kind);
  const at = from + preamble + indexSize;
  const entries = entriesOf(index.slice(1), bytes.subarray(indexSize, end), at, kind);
  return { from, to: at + size, tags: new Map(entries.map((entry) => [entry.tag, entry])), entries };
}

type Entry = ReturnType<typeof entryAt>;

const entryAt = (bytes: Buffer, at: number) => ({
  tag: bytes.readInt32BE(at),
  type: bytes.readInt32BE(at + 4),
  offset: bytes.readInt32BE(at + 8),
  count: bytes.readUInt32BE(at + 12),
});

/** The signature covers the region, so the region must be the whole header. @returns offset of the region's own value */
function refuseOtherRegion(index: readonly Entry[], bytes: Buffer, { name, region }: RpmHeaderKind): number {
  const end = bytes.length - entrySize;
  const isRegion = (entry: Entry | undefined, offset: number) =>
    entry?.tag === region &&
    entry.type === rpmTypes.binary &&
    entry.offset === offset &&
    entry.count === entrySize;
  const isFirst = isRegion(index[0], end - index.length * entrySize);
  if (!isFirst || !isRegion(entryAt(bytes, end), -index.length * entrySize))
    throw malformed(`the ${name} does not begin and end with tag ${region} over all its tags`);
  return end;
}

function entriesOf(
  index: readonly Entry[],
  store: Buffer,
  at: number,
  kind: RpmHeaderKind,
): RpmHeader["entries"] {
  const entries: (RpmValue & { tag: number })[] = [];
  const tags = new Set<number>();
  let end = 0;
  for (const { tag, type: code, offset, count } of index) {
    const what = `tag ${tag} of the ${kind.name}`;
    const type = types.get(code);
    if (type === undefined) throw malformed(`${what} has the type ${code}, which rpm does not have`);
    if (tags.has(tag) && !kind.isBare) throw malformed(`${what} is there twice`);
    const isAligned = offset % (sizes.get(type) ?? 1) === 0;
    if (offset < end || !isAligned)
      throw malformed(`${what} overlaps the value before it, at byte ${offset}`);
    const gap = store.subarray(end, offset);
    if (kind.isBare && (gap.length >= (sizes.get(type) ?? 1) || !areZeros(gap)))
      throw malformed(`the ${kind.name} has bytes that belong to no tag`);
    const length = lengthOf(type, count, store, offset);
    const isOne = type !== rpmTypes.text || count === 1;
    if (count === 0 || !isOne || length === undefined)
      throw malformed(`${what} has ${count} values, which do not fit in there`);
    end = offset + length;
    tags.add(tag);
    entries.push({ tag, type, count, at: at + offset, bytes: store.subarray(offset, end) });
  }
  if (kind.isBare && end < store.length) throw malformed(`the ${kind.name} has bytes that belong to no tag`);
  return entries;
}

/** Undefined: the value does not end inside the store. */
function lengthOf(type: RpmType, count: number, store: Buffer, offset: number): number | undefined {
  const size = sizes.get(type);
  if (size !== undefined) return offset + count * size <= store.length ? count * size : undefined;
  let end = offset;
  for (let left = type === rpmTypes.text ? 1 : count; left > 0; left--) {
    end = store.indexOf(0, end) + 1;
    if (end === 0) return undefined;
  }
  return end - offset;
}

/** Empty if the tag is missing. @throws Fault malformed, if it has another type */
export function textsOf({ tags }: RpmHeader, tag: number): string[] {
  const value = tags.get(tag);
  if (!value) return [];
  if (value.type < rpmTypes.text || value.type === rpmTypes.binary)
    throw malformed(`tag ${tag} holds no text`);
  return value.bytes.subarray(0, -1).toString("utf8").split("\0");
}

export function textOf(header: RpmHeader, tag: number): string | undefined {
  const [text, ...more] = textsOf(header, tag);
  if (more.length > 0) throw malformed(`tag ${tag} holds several texts, expected one`);
  return text;
}

const numbersOf =
  (type: RpmType) =>
  ({ tags }: RpmHeader, tag: number): number[] => {
    const value = tags.get(tag);
    if (!value) return [];
    const { bytes, count } = value;
    const size = sizes.get(type) ?? 0;
    if (value.type !== type) throw malformed(`tag ${tag} holds no integers of ${size * 8} bits`);
    return Array.from({ length: count }, (_, index) =>
      size === 8 ? Number(bytes.readBigUInt64BE(index * 8)) : bytes.readUIntBE(index * size, size),
    );
  };

/** Integers of 16, 32 and 64 bits; empty if the tag is missing. @throws Fault malformed, if it has another type */
export const shortsOf = numbersOf(rpmTypes.int16);
export const integersOf = numbersOf(rpmTypes.int32);
export const longsOf = numbersOf(rpmTypes.int64);
