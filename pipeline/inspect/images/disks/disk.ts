import { Fault, malformed } from "../../inspection.ts";

/** A machine's disk, as its guest sees it. */
export interface Disk {
  /** What kind of that format it is, such as `dynamic`. */
  variant: string;
  /** Bytes. */
  virtualSize: number;
  /**
   * Bytes of the guest; holes are zeros.
   * @throws Fault malformed; NotKept
   */
  read(from: number, length: number): Uint8Array;
  notes: readonly string[];
}

/** Larger than any machine's disk that is handed out: 16 TiB. */
const mostVirtual = 2 ** 44;

/** @throws Fault malformed: no size at all; refuse: a size that only looks for trouble */
export function refuseSize(name: string, virtualSize: number): void {
  if (virtualSize === 0) throw malformed(`${name} has a disk of 0 bytes`);
  if (virtualSize > mostVirtual)
    throw new Fault(
      "refuse",
      `${name} declares a disk of ${virtualSize} bytes, expected ${mostVirtual} at most`,
    );
}

/**
 * Guest bytes out of blocks of one size.
 * @param part bytes of one block, from an offset in it; undefined: zeros
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
