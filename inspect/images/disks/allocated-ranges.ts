import { malformed } from "../../verdict.ts";

/** Tracks used ranges of a file, so that no two parts of an image overlap or lie outside it. */
export interface AllocatedRanges {
  add(from: number, length: number, what: string): void;
}

/** A larger map would need too much memory; then only the bounds are checked. */
const maxUnits = 2 ** 28;

/**
 * @param unit alignment in bytes
 * @param slack bytes by which the last range may exceed the end
 */
export function allocatedRanges(
  { name, size }: { name: string; size: number },
  unit: number,
  slack = 0,
): AllocatedRanges {
  const units = Math.ceil(size / unit);
  const used = units <= maxUnits ? new Uint8Array(Math.ceil(units / 8)) : undefined;
  return {
    add(from, length, what) {
      if (from % unit !== 0)
        throw malformed(`${name} has ${what} at byte ${from}, expected a multiple of ${unit}`);
      if (from + length > size + slack)
        throw malformed(`${name} ends at byte ${size}, before ${what} (${length} bytes from ${from} on)`);
      if (used) use(used, from / unit, Math.min(units, Math.ceil((from + length) / unit)), what);
    },
  };

  function use(map: Uint8Array, first: number, end: number, what: string): void {
    for (let index = first; index < end; index++) {
      const bit = 1 << (index & 7);
      const byte = map[index >> 3] ?? 0;
      if (byte & bit)
        throw malformed(`${name} has ${what} at byte ${index * unit}, where something else is already`);
      map[index >> 3] = byte | bit;
    }
  }
}
