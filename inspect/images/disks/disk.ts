import { Fault, malformed } from "../../verdict.ts";

/** A virtual disk as the guest sees it. */
export interface Disk {
  /** Subtype of the format, such as `dynamic`. */
  variant: string;
  /** In bytes. */
  virtualSize: number;
  /**
   * Reads guest bytes; holes read as zeros.
   * @throws Fault malformed; OutsideWindow
   */
  read(from: number, length: number): Uint8Array;
  notes: readonly string[];
}

/** 16 TiB, larger than any published virtual disk. */
const maxVirtualBytes = 2 ** 44;

/** @throws Fault malformed, for a size of 0; refuse, for an absurd size */
export function refuseSize(name: string, virtualSize: number): void {
  if (virtualSize === 0) throw malformed(`${name} has a disk of 0 bytes`);
  if (virtualSize > maxVirtualBytes)
    throw new Fault(
      "refuse",
      `${name} declares a disk of ${virtualSize} bytes, expected ${maxVirtualBytes} at most`,
    );
}

/**
 * Maps guest offsets to blocks of equal size.
 * @param part reads bytes of one block; undefined: zeros
 */
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
