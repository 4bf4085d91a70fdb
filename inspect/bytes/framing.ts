import { crc32 } from "node:zlib";
import { badDigest } from "../verdict.ts";
import type { ByteSource } from "./byte-source.ts";

export type FramingCursor = ReturnType<typeof framingCursor>;

/** Bytes read at a time: chunks are up to 64 KiB apart, but a file may contain only tiny ones. */
const windowSize = 4096;

/**
 * Reads the framing of compressed data sequentially. Any unexpected byte is bad-digest, because damage cannot
 * be distinguished from other errors.
 */
export function framingCursor(source: Pick<ByteSource, "name" | "size" | "read">) {
  let window = Buffer.alloc(0);
  let start = 0;
  let at = 0;
  let sum = 0;

  const damaged = (how: string) => badDigest(`${source.name} is damaged at byte ${at}: ${how}`);

  /** Bytes at `at`, without consuming them. */
  function bytesAhead(length: number): Buffer {
    if (at + length > source.size) throw damaged("it ends too early");
    if (at < start || at + length > start + window.length) {
      const size = Math.min(Math.max(windowSize, length), source.size - at);
      window = Buffer.from(source.read(at, size));
      start = at;
    }
    return window.subarray(at - start, at - start + length);
  }

  /** The result is valid until the next call. */
  function take(length: number): Buffer {
    const bytes = bytesAhead(length);
    sum = crc32(bytes, sum);
    at += length;
    return bytes;
  }

  const byte = () => take(1)[0] ?? 0;

  return {
    name: source.name,
    get at() {
      return at;
    },
    /** The next byte, without consuming it; undefined at the end. */
    peek: () => (at < source.size ? bytesAhead(1)[0] : undefined),
    byte,
    take,
    skip(length: number) {
      if (at + length > source.size) throw damaged("it ends too early");
      at += length;
    },
    /** Variable-length integer of up to 63 bits, 7 per byte. Values above 2^53 are rejected like any invalid value. */
    vli() {
      let value = 0;
      for (let factor = 1; ; factor *= 128) {
        const next = byte();
        value += (next & 0x7f) * factor;
        if (next < 0x80 && Number.isSafeInteger(value) && (next > 0 || factor === 1)) return value;
        if (next < 0x80 || factor > 2 ** 49) throw damaged("a number is too long");
      }
    },
    zeros(count: number) {
      for (const padding of take(count)) if (padding !== 0) throw damaged("padding is not zero");
    },
    /** Starts a CRC-32 over everything that is taken from here on. */
    beginSum() {
      sum = 0;
    },
    sum: () => sum,
    expect(isSo: boolean, otherwise: string) {
      if (!isSo) throw damaged(otherwise);
    },
  };
}
