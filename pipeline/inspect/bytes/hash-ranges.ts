import type { Hash } from "node:crypto";
import type { ByteSource } from "../../system/byte-source.ts";

/** A hash, and the bytes of a source that it takes: up to `to`, exclusively. */
export interface HashedRange {
  from: number;
  to: number;
  hash: Hash;
}

/** Feeds hashes in one pass over a source; of ranges with the same hash, the earlier bytes first. */
export async function hashRanges(source: ByteSource, ranges: readonly HashedRange[]): Promise<void> {
  await source.each((chunk, at) => {
    for (const { from, to, hash } of ranges) {
      const [begin, end] = [Math.max(from, at), Math.min(to, at + chunk.length)];
      if (begin < end) hash.update(chunk.subarray(begin - at, end - at));
    }
  });
}

/** All of a source. */
export const hashWhole = (source: ByteSource, hash: Hash): Promise<void> =>
  hashRanges(source, [{ from: 0, to: source.size, hash }]);
