import { inflateSync } from "node:zlib";
import { malformed } from "../../../documents/verdict.ts";
import { blockReader } from "./disk.ts";
import { type Bytes, readFields } from "./fields.ts";

export const sector = 512;

export interface Grains {
  virtualSize: number;
  grainSize: number;
  /** Entries in each grain table. */
  perTable: number;
  /** Offset of the list of grain tables. */
  directory: number;
  isCompressed: boolean;
}

export function grainReader(source: Bytes, grains: Grains): (from: number, length: number) => Uint8Array {
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
