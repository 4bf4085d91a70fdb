import { malformed } from "../verdict.ts";

/** Random access to bytes without holding the whole file in memory. */
export interface ByteSource {
  /** File name without its folder. */
  readonly name: string;
  readonly size: number;
  /**
   * Returns exactly `length` bytes, valid until the next call.
   * @throws Fault malformed, if the range goes past the end
   */
  read(from: number, length: number): Uint8Array;
  /**
   * Passes over all bytes in order. The first pass also computes the SHA-256, so that hashing and inspecting
   * read the file once.
   * @param take receives chunks that are valid only during the call
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
      const step = 1 << 18;
      for (let done = 0; done < size; done += step) {
        await take(source.read(from + done, Math.min(step, size - done)), done);
      }
    },
  };
}

/**
 * Frees a chunk right away: waiting for garbage collection, many chunks need as much memory as a dictionary.
 */
export function release({ buffer, length }: Uint8Array): void {
  if (length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
