import { inflateSync } from "node:zlib";
import { type Fault, malformed, refused, unsupported } from "../../verdict.ts";
import { allocatedRanges, blockReader, type Disk, refuseSize } from "./disk.ts";
import { type Bytes, type Fields, insideWindow, readFields, tableEntries } from "./fields.ts";

/** Start of a descriptor, either in its own file or before a disk. */
export const descriptorStart = "# Disk DescriptorFile";
const maxDescriptorBytes = 1 << 20;

/**
 * VMware's single-file sparse disks: monolithicSparse and streamOptimized (Virtual Disk Format 5.0).
 * @throws Fault malformed; refuse, if it needs other files or was not closed; unsupported-format
 */
export function readVmdk(source: Bytes): Disk {
  const isSparse = Buffer.from(source.read(0, 4)).toString("latin1") === "KDMV";
  if (!isSparse) throw standingAlone(source);
  const first = headerAt(source, 0);
  const variant = refuseExtents(embeddedDescriptor(source, first), source.name);
  const header = lastHeader(source, first);
  if (header.u8(72) !== 0) throw refused(`${source.name} was not closed by what wrote it`);
  const grains = grainsOf(source, header);
  refuseSize(source.name, grains.virtualSize);
  const notes = insideWindow(() => checkGrains(source, grains));
  return {
    variant,
    virtualSize: grains.virtualSize,
    read: grainReader(source, grains),
    notes,
  };
}

/** A descriptor alone is never complete; its content gives a more precise reason. */
function standingAlone(source: Bytes): Fault {
  refuseExtents(descriptorText(source, 0, Math.min(source.size, maxDescriptorBytes)), source.name);
  return malformed(`${source.name} is a description only, of a disk that should be in the same file`);
}

function headerAt(source: Bytes, from: number): Fields {
  const header = readFields(source, from, sector, "little");
  if (header.text(0, 4) !== "KDMV" || header.u32(4) < 1 || header.u32(4) > 3)
    throw malformed(`${source.name} has no sparse header of version 1 to 3 at byte ${from}`);
  // VMware sets these bytes to detect damage by a text-mode transfer.
  if (header.text(73, 4) !== "\n \r\n")
    throw malformed(`${source.name} has line endings that were changed in transfer`);
  return header;
}

function embeddedDescriptor(source: Bytes, header: Fields): string {
  const [from, size] = [header.u64(28) * sector, header.u64(36) * sector];
  if (size > maxDescriptorBytes) throw malformed(`${source.name} has a description of ${size} bytes`);
  return descriptorText(source, from, size);
}

/** The text ends at the first zero byte. */
const descriptorText = (source: Bytes, from: number, size: number): string =>
  Buffer.from(source.read(from, size)).toString("utf8").split("\0", 1).join("");

/** A streamed disk has its grain directory, and so its final header, at the end: marker, header, end marker. */
function lastHeader(source: Bytes, first: Fields): Fields {
  const isAtEnd = first.bytes.readBigInt64LE(56) === -1n;
  if (!isAtEnd) return first;
  if (source.size < 4 * sector) throw malformed(`${source.name} is too short for the footer it announces`);
  const last = headerAt(source, source.size - 2 * sector);
  if (first.u64(12) !== last.u64(12)) throw malformed(`${source.name} has a footer of another disk`);
  return last;
}

const deflated = 1;

type Grains = ReturnType<typeof grainsOf>;

function grainsOf(source: Bytes, header: Fields) {
  const [capacity, grainSectors] = [header.u64(12), header.u64(20)];
  const perTable = header.u32(44);
  const isPower = grainSectors >= 1 && grainSectors <= 2 ** 16 && Number.isInteger(Math.log2(grainSectors));
  if (!isPower || perTable < 1 || perTable > 2 ** 14)
    throw malformed(`${source.name} has grains of ${grainSectors} sectors, ${perTable} in a table`);
  const isCompressed = (header.u32(8) & 0x10000) !== 0;
  if (isCompressed && header.u16(77) !== deflated)
    throw unsupported(`${source.name} is compressed in a way that is not supported`);
  return {
    virtualSize: capacity * sector,
    grainSize: grainSectors * sector,
    perTable,
    /** Offset of the list of grain tables. */
    directory: header.u64(56) * sector,
    isCompressed,
  };
}

function checkGrains(source: Bytes, grains: Grains): void {
  const { grainSize, perTable, virtualSize, isCompressed } = grains;
  const tables = Math.ceil(virtualSize / (grainSize * perTable));
  const ranges = allocatedRanges(source, sector);
  ranges.add(grains.directory, tables * 4, "its grain directory");
  for (const { fields, at } of tableEntries(source, grains.directory, tables, 4, "little")) {
    const table = fields.u32(at) * sector;
    if (table === 0) continue;
    ranges.add(table, perTable * 4, "a grain table");
    for (const entry of tableEntries(source, table, perTable, 4, "little")) {
      const place = entry.fields.u32(entry.at);
      // Entry 1 reads as zeros. The length of a compressed grain is only in the grain itself.
      if (place > 1) ranges.add(place * sector, isCompressed ? 1 : grainSize, "a grain");
    }
  }
}

const inOneFile = ["monolithicSparse", "streamOptimized"];

/** @returns the create type @throws Fault refuse, for a parent, several extents or one in another file; malformed */
function refuseExtents(text: string, name: string): string {
  const refuse = (reason: string) => refused(`${name} ${reason}`);
  const values = new Map<string, string>();
  const extents: string[] = [];
  for (const line of text.split("\n")) {
    const [key = "", ...value] = line.split("=");
    if (/^(?:RW|RDONLY|NOACCESS)\s/.test(line.trim())) extents.push(line);
    else if (value.length > 0)
      values.set(key.trim().toLowerCase(), value.join("=").trim().replaceAll('"', ""));
  }
  const variant = values.get("createtype");
  if (text.trim() === "")
    throw refuse("has no description of its own: it is a part of a disk in several files");
  if (variant === undefined) throw malformed(`${name} has a description without createType`);
  if (values.has("parentfilenamehint") || !/^f{8}$/i.test(values.get("parentcid") ?? "ffffffff"))
    throw refuse("is a difference to a parent disk, expected a disk of its own");
  if (values.has("encryption.keysafe"))
    throw refuse("is encrypted, expected one that every machine can read");
  if (extents.length !== 1) throw refuse(`is in ${extents.length} extents, expected one`);
  if (!inOneFile.includes(variant))
    throw refuse(
      `is ${JSON.stringify(variant)}, whose data is in another file; expected ${inOneFile.join(" or ")}`,
    );
  return variant;
}

const sector = 512;

function grainReader(source: Bytes, grains: Grains): (from: number, length: number) => Uint8Array {
  const { grainSize, perTable, directory } = grains;
  return blockReader(grainSize, (grain, from, length) => {
    const table =
      readFields(source, directory + Math.floor(grain / perTable) * 4, 4, "little").u32(0) * sector;
    if (table === 0) return undefined;
    const place = readFields(source, table + (grain % perTable) * 4, 4, "little").u32(0);
    if (place <= 1) return undefined;
    if (!grains.isCompressed) return source.read(place * sector + from, length);
    return unpacked(source, place * sector, grainSize).subarray(from, from + length);
  });
}

/** A compressed grain has its sector number, its length, and zlib data. */
function unpacked(source: Bytes, from: number, grainSize: number): Uint8Array {
  const length = readFields(source, from, 12, "little").u32(8);
  const damaged = () => malformed(`${source.name} has a damaged grain at byte ${from}`);
  // Compression never doubles the size.
  if (length > 2 * grainSize) throw damaged();
  try {
    return inflateSync(Uint8Array.from(source.read(from + 12, length)), { maxOutputLength: grainSize });
  } catch (error) {
    throw error instanceof Error && "code" in error ? damaged() : error;
  }
}
