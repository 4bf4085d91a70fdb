import { crc32 } from "node:zlib";
import { badDigest } from "../verdict.ts";
import type { ByteSource } from "./byte-source.ts";

/**
 * Reads the framing of compressed data sequentially. Any unexpected byte is bad-digest, because damage cannot
 * be distinguished from other errors.
 */
export interface FramingCursor {
  readonly name: string;
  readonly at: number;
  /** The next byte, without consuming it; undefined at the end. */
  peek(): number | undefined;
  byte(): number;
  /** The result is valid until the next call. */
  take(length: number): Buffer;
  skip(length: number): void;
  /**
   * Variable-length integer of up to 63 bits, 7 per byte. Values above 2^53 are rejected like any invalid
   * value.
   */
  vli(): number;
  zeros(count: number): void;
  /** Starts a CRC-32 over everything that is taken from here on. */
  beginSum(): void;
  sum(): number;
  expect(isSo: boolean, otherwise: string): void;
}

/** Bytes read at a time: chunks are up to 64 KiB apart, but a file may contain only tiny ones. */
const windowSize = 4096;

export function framingCursor(source: Pick<ByteSource, "name" | "size" | "read">): FramingCursor {
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
    peek: () => (at < source.size ? bytesAhead(1)[0] : undefined),
    byte,
    take,
    skip(length) {
      if (at + length > source.size) throw damaged("it ends too early");
      at += length;
    },
    vli() {
      let value = 0;
      for (let factor = 1; ; factor *= 128) {
        const next = byte();
        value += (next & 0x7f) * factor;
        if (next < 0x80 && Number.isSafeInteger(value) && (next > 0 || factor === 1)) return value;
        if (next < 0x80 || factor > 2 ** 49) throw damaged("a number is too long");
      }
    },
    zeros(count) {
      for (const padding of take(count)) if (padding !== 0) throw damaged("padding is not zero");
    },
    beginSum() {
      sum = 0;
    },
    sum: () => sum,
    expect(isSo, otherwise) {
      if (!isSo) throw damaged(otherwise);
    },
  };
}
