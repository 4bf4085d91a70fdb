import type { Hash } from "node:crypto";
import type { ByteSource } from "./byte-source.ts";

/** A hash and the range it covers; `to` is exclusive. */
export interface HashedRange {
  from: number;
  to: number;
  hash: Hash;
}

/** Updates several hashes in one pass. Ranges of the same hash must be in ascending order. */
export async function hashRanges(source: ByteSource, ranges: readonly HashedRange[]): Promise<void> {
  await source.each((chunk, at) => {
    for (const { from, to, hash } of ranges) {
      const [begin, end] = [Math.max(from, at), Math.min(to, at + chunk.length)];
      if (begin < end) hash.update(chunk.subarray(begin - at, end - at));
    }
  });
}

export const hashWhole = (source: ByteSource, hash: Hash): Promise<void> =>
  hashRanges(source, [{ from: 0, to: source.size, hash }]);
