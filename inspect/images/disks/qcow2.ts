import { inflateRawSync, zstdDecompressSync } from "node:zlib";
import { frameEnds } from "../../archives/zstd-walk.ts";
import { bytesSource } from "../../bytes/byte-source.ts";
import { malformed, refused, unsupported } from "../../verdict.ts";
import { type AllocatedRanges, allocatedRanges, blockReader, type Disk, refuseSize } from "./disk.ts";
import { type Bytes, type Fields, insideWindow, readFields, tableEntries } from "./fields.ts";

/** QEMU's images, versions 2 and 3 (docs/interop/qcow2.txt). @throws Fault malformed, refuse, unsupported-format */
export function readQcow2(source: Bytes): Disk {
  const header = readFields(source, 0, 112, "big");
  const version = header.u32(4);
  if (version !== 2 && version !== 3)
    throw unsupported(`${source.name} is qcow version ${version}, expected 2 or 3`);
  const features = featuresOf(header, version, source.name);
  refuseForeign(source, header, features);
  const layout = layoutOf(source, header, version, features);
  refuseSize(source.name, layout.virtualSize);
  readExtensions(source, version === 2 ? 72 : header.u32(100), layout.clusterSize);
  const notes = insideWindow(() => checkTables(source, layout));
  if (header.u32(60) > 0)
    notes.push(`it holds ${header.u32(60)} snapshots, with the contents of the disk at that time`);
  return {
    variant: `version ${version}, ${layout.isZstd ? "zstd" : "zlib"}`,
    virtualSize: layout.virtualSize,
    read: guestReader(source, layout),
    notes,
  };
}

/** Bits of the incompatible features. */
const dirty = 1;
const corrupt = 2;
const externalData = 4;
const otherCompression = 8;
const extendedL2 = 16;

function featuresOf(header: Fields, version: number, name: string): number {
  if (version === 2) return 0;
  if (header.u32(100) < 104) throw malformed(`${name} has a header that is too short`);
  const features = header.u64(72);
  if (features > 31) throw unsupported(`${name} has features that are not supported`);
  return features;
}

/** Rejects images that depend on other files, or are not in a clean state. */
function refuseForeign(source: Bytes, header: Fields, features: number): void {
  const refuse = (reason: string) => refused(`${source.name} ${reason}`);
  const backing = header.u64(8);
  if (backing !== 0) {
    const length = Math.min(header.u32(16), 1023);
    const file = Buffer.from(source.read(backing, length)).toString("utf8");
    throw refuse(`needs the backing file ${JSON.stringify(file)}, expected an image of its own`);
  }
  if (header.u32(32) !== 0) throw refuse("is encrypted, expected one that every machine can read");
  if (features & externalData) throw refuse("keeps its data in another file, expected one file");
  if (features & corrupt) throw refuse("is marked corrupt; build it again");
  if (features & dirty) throw refuse("was not closed: qemu-img check -r all repairs it");
}

type Layout = ReturnType<typeof layoutOf>;

function layoutOf(source: Bytes, header: Fields, version: number, features: number) {
  const clusterBits = header.u32(20);
  if (clusterBits < 9 || clusterBits > 21)
    throw malformed(`${source.name} has clusters of 2^${clusterBits} bytes, expected 2^9 to 2^21`);
  if (version === 3 && header.u32(96) > 6)
    throw malformed(`${source.name} has reference counts of too many bits`);
  const isZstd = features & otherCompression ? header.u32(100) > 104 && header.u8(104) === 1 : false;
  if (features & otherCompression && !isZstd)
    throw unsupported(`${source.name} is compressed in a way that is not supported`);
  return {
    clusterBits,
    clusterSize: 2 ** clusterBits,
    virtualSize: header.u64(24),
    isZstd,
    l1: { from: header.u64(40), count: header.u32(36) },
    refcounts: { from: header.u64(48), clusters: header.u32(56) },
    /** Size of a second-level entry in bytes: 16 with subclusters. */
    entrySize: features & extendedL2 ? 16 : 8,
  };
}

const externalDataName = 0x44415441;

/** Header extensions: type, length, data, padded to a multiple of 8. */
function readExtensions(source: Bytes, from: number, clusterSize: number): void {
  const end = Math.min(clusterSize, source.size);
  for (let at = from; ; ) {
    if (at % 8 !== 0 || at + 8 > end) throw malformed(`${source.name} has header extensions that do not end`);
    const extension = readFields(source, at, 8, "big");
    const [type, length] = [extension.u32(0), extension.u32(4)];
    if (type === 0) return;
    if (type === externalDataName)
      throw refused(`${source.name} names a file with its data, expected one file`);
    at += 8 + length + (-length & 7);
  }
}

const maxL1Entries = 2 ** 22;
const maxRefcountBytes = 2 ** 23;

/** Requires that tables and data clusters are in the file and do not overlap. @throws Fault malformed; OutsideWindow */
function checkTables(source: Bytes, layout: Layout): void {
  const { l1, refcounts, clusterSize } = layout;
  const needed = Math.ceil(layout.virtualSize / (clusterSize * entriesOf(layout)));
  if (l1.count < needed || l1.count > maxL1Entries)
    throw malformed(`${source.name} has a table of ${l1.count} entries for its disk, expected ${needed}`);
  if (refcounts.clusters === 0 || refcounts.clusters * clusterSize > maxRefcountBytes)
    throw malformed(`${source.name} has no proper table of reference counts`);
  const ranges = allocatedRanges(source, clusterSize, clusterSize - 1);
  ranges.add(0, clusterSize, "its header");
  ranges.add(l1.from, l1.count * 8, "its first table");
  ranges.add(refcounts.from, refcounts.clusters * clusterSize, "its reference counts");
  for (const { fields, at } of tableEntries(
    source,
    refcounts.from,
    (refcounts.clusters * clusterSize) / 8,
    8,
    "big",
  ))
    if (fields.u64(at) !== 0) ranges.add(fields.u64(at), clusterSize, "reference counts");
  for (const { fields, at } of tableEntries(source, l1.from, l1.count, 8, "big")) {
    const table = placeIn(fields, at, source.name);
    if (table === 0) continue;
    ranges.add(table, clusterSize, "a table");
    checkClusters(source, layout, table, ranges);
  }
}

const entriesOf = ({ clusterSize, entrySize }: Layout): number => clusterSize / entrySize;

/** The offset is in bits 9 to 55; the other bits are flags or reserved. */
function placeIn(fields: Fields, at: number, name: string): number {
  const [high, low] = [fields.u32(at), fields.u32(at + 4)];
  if (high & 0x3f000000 || low & 0x1fe) throw malformed(`${name} has a table entry with unknown flags`);
  return (high & 0x00ffffff) * 2 ** 32 + (low - (low % 512));
}

const isCompressed = (fields: Fields, at: number): boolean => (fields.u8(at) & 0x40) !== 0;

function checkClusters(source: Bytes, layout: Layout, table: number, ranges: AllocatedRanges): void {
  const { clusterSize, entrySize } = layout;
  for (const { fields, at } of tableEntries(source, table, entriesOf(layout), entrySize, "big")) {
    if (isCompressed(fields, at)) {
      const { from } = compressedPlace(fields, at, layout);
      if (from >= source.size) throw malformed(`${source.name} has a compressed cluster beyond its end`);
      continue;
    }
    const place = placeIn(fields, at, source.name);
    if (place !== 0) ranges.add(place, clusterSize, "a cluster");
  }
}

/** Offset of a compressed cluster, and its size up to the end of its last sector. */
function compressedPlace(fields: Fields, at: number, { clusterBits }: Layout) {
  const entry = fields.bytes.readBigUInt64BE(at);
  const shift = BigInt(70 - clusterBits);
  const from = Number(entry & ((1n << shift) - 1n));
  const more = Number((entry >> shift) & ((1n << BigInt(clusterBits - 8)) - 1n));
  return { from, length: (more + 1) * 512 - (from % 512) };
}

function guestReader(source: Bytes, layout: Layout): (from: number, length: number) => Uint8Array {
  const { clusterSize, entrySize, l1 } = layout;
  const entries = entriesOf(layout);
  const parts = entrySize === 16 ? 32 : 1;
  return blockReader(clusterSize / parts, (block, from, length) => {
    const [cluster, part] = [Math.floor(block / parts), block % parts];
    const index = Math.floor(cluster / entries);
    if (index >= l1.count) return undefined;
    const table = placeIn(readFields(source, l1.from + index * 8, 8, "big"), 0, source.name);
    if (table === 0) return undefined;
    const entry = readFields(source, table + (cluster % entries) * entrySize, entrySize, "big");
    const inside = part * (clusterSize / parts) + from;
    if (isCompressed(entry, 0)) return unpacked(source, layout, entry).subarray(inside, inside + length);
    const place = placeIn(entry, 0, source.name);
    const isThere = parts === 1 ? (entry.u8(7) & 1) === 0 : ((entry.u32(12) >>> part) & 1) === 1;
    const most = Math.min(length, source.size - place - inside);
    return place !== 0 && isThere && most > 0 ? source.read(place + inside, most) : undefined;
  });
}

function unpacked(source: Bytes, layout: Layout, entry: Fields): Uint8Array {
  const { from, length } = compressedPlace(entry, 0, layout);
  const bytes = Buffer.from(source.read(from, Math.min(length, source.size - from)));
  const maxOutputLength = layout.clusterSize;
  try {
    if (layout.isZstd)
      return zstdDecompressSync(bytes.subarray(0, frameEnds(bytesSource(bytes), 1)[0]), { maxOutputLength });
    return inflateRawSync(bytes, { maxOutputLength });
  } catch {
    throw malformed(`${source.name} has a compressed cluster at byte ${from} that is damaged`);
  }
}
