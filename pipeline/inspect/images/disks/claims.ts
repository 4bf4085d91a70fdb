import { malformed } from "../../inspection.ts";

/** Which parts of a file are taken, so that no two things of an image lie in the same place or outside. */
export interface Claims {
  /** @throws Fault malformed */
  claim(from: number, length: number, what: string): void;
}

/** Beyond, a map of them would take too much memory; then only the range is checked. */
const mostUnits = 2 ** 28;

/**
 * @param unit bytes, that everything begins at a multiple of
 * @param slack bytes that the last thing may reach beyond the end
 */
export function claimsOf({ name, size }: { name: string; size: number }, unit: number, slack = 0): Claims {
  const units = Math.ceil(size / unit);
  const taken = units <= mostUnits ? new Uint8Array(Math.ceil(units / 8)) : undefined;
  return {
    claim(from, length, what) {
      if (from % unit !== 0)
        throw malformed(`${name} has ${what} at byte ${from}, expected a multiple of ${unit}`);
      if (from + length > size + slack)
        throw malformed(
          `${name} ends at byte ${size}, expected there ${what} of ${length} bytes from ${from} on`,
        );
      if (taken) take(taken, from / unit, Math.min(units, Math.ceil((from + length) / unit)), what);
    },
  };

  function take(map: Uint8Array, first: number, end: number, what: string): void {
    for (let index = first; index < end; index++) {
      const bit = 1 << (index & 7);
      const byte = map[index >> 3] ?? 0;
      if (byte & bit)
        throw malformed(`${name} has ${what} at byte ${index * unit}, where something else is already`);
      map[index >> 3] = byte | bit;
    }
  }
}
