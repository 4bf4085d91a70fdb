import { malformed, refused } from "../../verdict.ts";

/** A virtual disk as the guest sees it. */
export interface Disk {
  /** Subtype of the format, such as `dynamic`. */
  variant: string;
  /** In bytes. */
  virtualSize: number;
  /** Reads guest bytes; holes read as zeros. @throws Fault malformed; OutsideWindow */
  read(from: number, length: number): Uint8Array;
  notes: readonly string[];
}

/** 16 TiB, larger than any published virtual disk. */
const maxVirtualBytes = 2 ** 44;

/** @throws Fault malformed, for a size of 0; refuse, for an absurd size */
export function refuseSize(name: string, virtualSize: number): void {
  if (virtualSize === 0) throw malformed(`${name} has a disk of 0 bytes`);
  if (virtualSize > maxVirtualBytes)
    throw refused(`${name} declares a disk of ${virtualSize} bytes, expected ${maxVirtualBytes} at most`);
}

/** Maps guest offsets to blocks of equal size. @param part reads bytes of one block; undefined: zeros */
export function blockReader(
  blockSize: number,
  part: (block: number, from: number, length: number) => Uint8Array | undefined,
): (from: number, length: number) => Uint8Array {
  return (from, length) => {
    const bytes = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      const at = from + done;
      const inside = at % blockSize;
      const some = Math.min(blockSize - inside, length - done);
      const piece = part(Math.floor(at / blockSize), inside, some);
      if (piece) bytes.set(piece, done);
      done += some;
    }
    return bytes;
  };
}

export type AllocatedRanges = ReturnType<typeof allocatedRanges>;

/** A larger map would need too much memory; then only the bounds are checked. */
const maxUnits = 2 ** 28;

/**
 * Tracks used ranges of a file, so that no two parts of an image overlap or lie outside it.
 * @param unit alignment in bytes @param slack bytes by which the last range may exceed the end
 */
export function allocatedRanges({ name, size }: { name: string; size: number }, unit: number, slack = 0) {
  const units = Math.ceil(size / unit);
  const used = units <= maxUnits ? new Uint8Array(Math.ceil(units / 8)) : undefined;
  return {
    add(from: number, length: number, what: string) {
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
