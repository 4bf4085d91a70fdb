import type { Hash } from "node:crypto";
import { malformed } from "../verdict.ts";

/** Random access to bytes without holding the whole file in memory. */
export interface ByteSource {
  /** File name without its folder. */
  readonly name: string;
  readonly size: number;
  /** Returns exactly `length` bytes, valid until the next call. @throws Fault malformed, for a range past the end */
  read(from: number, length: number): Uint8Array;
  /**
   * Passes over all bytes in order, in chunks that are valid only during the call. The first pass also computes the
   * SHA-256, so that hashing and inspecting read the file once.
   */
  each(take: (chunk: Uint8Array, at: number) => void | Promise<void>): Promise<void>;
}

export function refuseBeyond(source: { name: string; size: number }, from: number, length: number): void {
  const isInside = Number.isSafeInteger(from) && Number.isSafeInteger(length) && from >= 0 && length >= 0;
  if (!isInside || from + length > source.size)
    throw malformed(`${source.name} ends at byte ${source.size}, expected ${length} bytes from ${from} on`);
}

export function bytesSource(bytes: Uint8Array, name = "bytes"): ByteSource {
  const at = { name, size: bytes.length };
  return {
    ...at,
    read(from, length) {
      refuseBeyond(at, from, length);
      return bytes.subarray(from, from + length);
    },
    async each(take) {
      await take(bytes, 0);
    },
  };
}

/** Part of another source, such as an uncompressed member of an archive. */
export function partOf(source: ByteSource, from: number, size: number, name = source.name): ByteSource {
  refuseBeyond(source, from, size);
  const at = { name, size };
  return {
    ...at,
    read(start, length) {
      refuseBeyond(at, start, length);
      return source.read(from + start, length);
    },
    async each(take) {
      for (const { bytes, at } of piecesOf(source, from, from + size)) await take(bytes, at - from);
    },
  };
}

/** A range in pieces, each with its offset and valid until the next one. */
export function* piecesOf(source: ByteSource, from: number, to: number) {
  const maxBytes = 1 << 18;
  for (let at = from; at < to; at += maxBytes)
    yield { bytes: source.read(at, Math.min(maxBytes, to - at)), at };
}

/** Frees a chunk right away: waiting for garbage collection, many chunks need as much memory as a dictionary. */
export function release({ buffer, length }: Uint8Array): void {
  if (length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** Larger than any signature, checksum list or package description that is read whole. */
export const maxSmallFileBytes = 1 << 20;

/** Reads a file that should be small. @throws Fault malformed, if it is larger than the limit */
export function readSmall(source: ByteSource): Uint8Array {
  if (source.size > maxSmallFileBytes)
    throw malformed(`${source.name} has ${source.size} bytes, expected ${maxSmallFileBytes} at most`);
  return Uint8Array.from(source.read(0, source.size));
}

export function utf8(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw malformed(`${what} is not UTF-8`);
  }
}

/** Start offset, inclusive, and end offset, exclusive. */
interface Range {
  from: number;
  to: number;
}

/** Bytes that the signature does not cover: a change there goes unnoticed. */
export interface Uncovered extends Range {
  why: string;
}

/** The parts of `0..size` that no range covers. */
export function gaps(ranges: readonly Range[], size: number, why: string): Uncovered[] {
  const found: Uncovered[] = [];
  let end = 0;
  for (const { from, to } of sorted(ranges)) {
    if (from > end) found.push({ from: end, to: from, why });
    end = Math.max(end, to);
  }
  if (size > end) found.push({ from: end, to: size, why });
  return found;
}

/** Start of the first overlap. */
export function overlap(ranges: readonly Range[]): number | undefined {
  let end = 0;
  for (const { from, to } of sorted(ranges)) {
    if (from < end) return from;
    end = to;
  }
  return undefined;
}

const sorted = (ranges: readonly Range[]) => ranges.toSorted((one, other) => one.from - other.from);

/** Moves ranges by `start`, the offset of their container. */
export const shifted =
  (start: number) =>
  ({ from, to, why }: Uncovered): Uncovered => ({ from: start + from, to: start + to, why });

export interface HashedRange extends Range {
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

export async function hashWhole(source: ByteSource, hash: Hash): Promise<Hash> {
  await hashRanges(source, [{ from: 0, to: source.size, hash }]);
  return hash;
}

const zeros = Buffer.alloc(1 << 16);

/** Compares blocks, which takes a fiftieth of the time of a loop over the bytes. */
export function areZeros(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += zeros.length) {
    const block = bytes.subarray(at, at + zeros.length);
    if (Buffer.compare(block, zeros.subarray(0, block.length)) !== 0) return false;
  }
  return true;
}
