import { malformed, refused, unsupported } from "../../verdict.ts";
import { allocatedRanges, blockReader, type Disk, refuseSize } from "./disk.ts";
import { type Bytes, type Fields, fieldsOf, insideWindow, readFields, tableEntries } from "./fields.ts";

const kibibyte = 1024;
/** VHDX keeps two copies of each header, so that one is always intact. */
const headers = [64 * kibibyte, 128 * kibibyte];
const regionTables = [192 * kibibyte, 256 * kibibyte];

const tableId = "2DC27766-F623-4200-9D64-115E9BFD4A08";
const metadataId = "8B7CA206-4790-4B9A-B8FE-575F050F886E";

type VhdxLayout = ReturnType<typeof readLayout>["layout"];

/** @throws Fault malformed, refuse, unsupported-format */
function readLayout(source: Bytes) {
  const found = headers.flatMap((at) => checkedAt(source, at, 4 * kibibyte, "head") ?? []);
  const header = found.toSorted((a, b) => b.u64(8) - a.u64(8))[0];
  if (!header) throw malformed(`${source.name} has no header with a correct checksum`);
  if (header.u16(66) !== 1) throw unsupported(`${source.name} is VHDX of another version than 1`);
  if (!header.isZero(48, 64))
    throw refused(`${source.name} was not closed: its log has changes that the disk does not`);
  const log = { from: header.u64(72), length: header.u32(68) };
  const regions = regionsOf(source);
  const [table, metadata] = [regions.get(tableId), regions.get(metadataId)];
  if (!table || !metadata) throw malformed(`${source.name} has no region of blocks, or none of metadata`);
  // Regions that hold anything but blocks.
  const usedRegions = [{ from: 0, length: 1024 * kibibyte }, log, table, metadata].filter(
    ({ length }) => length > 0,
  );
  const notes = found.length < headers.length ? ["one of its two headers is damaged"] : [];
  return { layout: { ...readMetadata(source, metadata), table, usedRegions }, notes };
}

/** A structure with signature and, in bytes 4 to 7, a checksum; undefined if either is wrong. */
function checkedAt(source: Bytes, at: number, length: number, signature: string): Fields | undefined {
  const bytes = Uint8Array.from(source.read(at, length));
  const fields = fieldsOf(bytes, "little", source.name);
  const sum = fields.u32(4);
  bytes.fill(0, 4, 8);
  return fields.text(0, 4) === signature && crc32c(bytes) === sum ? fields : undefined;
}

const maxRegions = 2047;

function regionsOf(source: Bytes): Map<string, Region> {
  const table = regionTables.map((at) => checkedAt(source, at, 64 * kibibyte, "regi")).find((found) => found);
  const count = table?.u32(8) ?? 0;
  if (!table || count > maxRegions)
    throw malformed(`${source.name} has no region table with a correct checksum`);
  const regions = new Map<string, Region>();
  for (let at = 16; at < 16 + count * 32; at += 32) {
    const id = table.guid(at);
    const region = { from: table.u64(at + 16), length: table.u32(at + 24) };
    if (id !== tableId && id !== metadataId && table.u32(at + 28) & 1)
      throw unsupported(`${source.name} needs the region ${id}, which is not supported`);
    if (regions.has(id)) throw malformed(`${source.name} has the region ${id} twice`);
    if (region.from + region.length > source.size)
      throw malformed(`${source.name} has a region beyond its end`);
    regions.set(id, region);
  }
  return regions;
}

const mebibyte = 2 ** 20;
/** States of a payload block: fully present, and partially present, with the rest in a parent. */
const full = 6;
const partial = 7;

/** Hyper-V disks (MS-VHDX). @throws Fault malformed; refuse, if it has a parent or an unreplayed log */
export function readVhdx(source: Bytes): Disk {
  const { layout, notes } = readLayout(source);
  refuseSize(source.name, layout.virtualSize);
  return {
    variant: layout.isFixed ? "fixed" : "dynamic",
    virtualSize: layout.virtualSize,
    read: guestReader(source, layout),
    notes: [...notes, ...insideWindow(() => checkBlocks(source, layout))],
  };
}

/** After this many payload blocks, one entry describes a sector bitmap. */
const perBitmap = ({ blockSize, sectorSize }: VhdxLayout): number => (2 ** 23 * sectorSize) / blockSize;

const entryOf = (block: number, layout: VhdxLayout): number => block + Math.floor(block / perBitmap(layout));

function checkBlocks(source: Bytes, layout: VhdxLayout): void {
  const { blockSize, virtualSize, table } = layout;
  const entries = entryOf(Math.ceil(virtualSize / blockSize) - 1, layout) + 1;
  if (entries * 8 > table.length)
    throw malformed(`${source.name} has a table that is too short for its disk`);
  const ranges = allocatedRanges(source, mebibyte);
  for (const { from, length } of layout.usedRegions) ranges.add(from, length, "a region");
  for (const { fields, at, index } of tableEntries(source, table.from, entries, 8, "little")) {
    const isBitmap = (index + 1) % (perBitmap(layout) + 1) === 0;
    const state = fields.u8(at) & 7;
    if (state === partial) throw refused(`${source.name} has blocks that a parent disk completes`);
    if (state !== full) continue;
    ranges.add(placeOf(fields.bytes, at), isBitmap ? mebibyte : blockSize, "a block");
  }
}

/** Bits 20 to 63 hold the offset in mebibytes. */
const placeOf = (bytes: Buffer, at: number): number => Number(bytes.readBigUInt64LE(at) >> 20n) * mebibyte;

function guestReader(source: Bytes, layout: VhdxLayout): (from: number, length: number) => Uint8Array {
  return blockReader(layout.blockSize, (block, from, length) => {
    const entry = readFields(source, layout.table.from + entryOf(block, layout) * 8, 8, "little");
    if ((entry.u8(0) & 7) !== full) return undefined;
    return source.read(placeOf(entry.bytes, 0) + from, length);
  });
}

interface Region {
  from: number;
  length: number;
}

const fileParameters = "CAA16737-FA36-4D43-B3B6-33F0AA44E76B";
const diskSize = "2FA54224-CD1B-4876-B211-5DBED83BF4B8";
const diskId = "BECA12AB-B2E6-4523-93EF-C309E000C746";
const logicalSector = "8141BF1D-A96F-4709-BA47-F233A8FAAB5F";
const physicalSector = "CDA348C7-445D-4471-9CC9-E9885251C556";
const parentLocator = "A8D35F2D-B30B-454D-ABF7-D3D84834AB0C";
const known = [fileParameters, diskSize, diskId, logicalSector, physicalSector, parentLocator];

const maxItems = 1023;

/** @throws Fault malformed; refuse, for a parent; unsupported-format, for an unknown required item */
function readMetadata(source: Bytes, region: Region) {
  const items = itemsOf(source, region);
  const item = (id: string, length: number): Fields => {
    const found = items.get(id);
    if (!found || found.length < length) throw malformed(`${source.name} has no proper metadata item ${id}`);
    return readFields(source, found.from, length, "little");
  };
  const parameters = item(fileParameters, 8);
  if (parameters.u32(4) & 2 || items.has(parentLocator))
    throw refused(`${source.name} is a difference to a parent disk, expected a disk of its own`);
  const [blockSize, sectorSize] = [parameters.u32(0), item(logicalSector, 4).u32(0)];
  const isPower = Number.isInteger(Math.log2(blockSize)) && blockSize >= 2 ** 20 && blockSize <= 2 ** 28;
  if (!isPower || (sectorSize !== 512 && sectorSize !== 4096))
    throw malformed(`${source.name} has blocks of ${blockSize} bytes and sectors of ${sectorSize}`);
  return {
    virtualSize: item(diskSize, 8).u64(0),
    blockSize,
    sectorSize,
    isFixed: (parameters.u32(4) & 1) === 1,
  };
}

function itemsOf(source: Bytes, region: Region): Map<string, Region> {
  const size = 64 * 1024;
  const table = readFields(source, region.from, size, "little");
  const count = table.u16(10);
  if (table.text(0, 8) !== "metadata" || count > maxItems)
    throw malformed(`${source.name} has no table of metadata`);
  const items = new Map<string, Region>();
  for (let at = 32; at < 32 + count * 32; at += 32) {
    const [id, flags] = [table.guid(at), table.u32(at + 24)];
    const [from, length] = [table.u32(at + 16), table.u32(at + 20)];
    if (flags & 4 && !known.includes(id))
      throw unsupported(`${source.name} needs the metadata ${id}, which is not supported`);
    if (length > 0 && (from < size || from + length > region.length))
      throw malformed(`${source.name} has the metadata ${id} outside its place`);
    if (items.has(id)) throw malformed(`${source.name} has the metadata ${id} twice`);
    items.set(id, { from: region.from + from, length });
  }
  return items;
}

/** CRC-32C (Castagnoli), reflected, as VHDX and iSCSI use it (RFC 3720, appendix B.4). */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});
