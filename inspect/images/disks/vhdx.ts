import { Fault, malformed } from "../../verdict.ts";
import { claimsOf } from "./claims.ts";
import { blockReader, type Disk, refuseSize } from "./disk.ts";
import { type Bytes, readFields, tableEntries } from "./fields.ts";
import { whereKept } from "./passing.ts";
import { readLayout, type VhdxLayout } from "./vhdx-layout.ts";

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
    notes: [...notes, ...whereKept(() => checkBlocks(source, layout))],
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
  const claims = claimsOf(source, mebibyte);
  for (const { from, length } of layout.taken) claims.claim(from, length, "a region");
  for (const { fields, at, index } of tableEntries(source, table.from, entries, 8, "little")) {
    const isBitmap = (index + 1) % (perBitmap(layout) + 1) === 0;
    const state = fields.u8(at) & 7;
    if (state === partial)
      throw new Fault("refuse", `${source.name} has blocks that a parent disk completes`);
    if (state !== full) continue;
    claims.claim(placeOf(fields.bytes, at), isBitmap ? mebibyte : blockSize, "a block");
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
