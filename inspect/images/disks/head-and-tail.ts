import { malformed } from "../../verdict.ts";
import type { Bytes } from "./fields.ts";

/** Thrown on access to streamed bytes that were not kept. */
export class OutsideWindow extends Error {}

/** Headers, tables and a guest's first sectors are at the beginning; footers are at the end. */
const headSize = 1 << 24;
const tailSize = 1 << 12;

/** Keeps the beginning and end of streamed content, such as decompressed data. */
export function headAndTail(name: string): { write(chunk: Uint8Array): void; end(): Bytes } {
  const memory = new ArrayBuffer(0, { maxByteLength: headSize });
  const head = new Uint8Array(memory);
  const tail = new Uint8Array(tailSize);
  let size = 0;

  function read(from: number, length: number): Uint8Array {
    if (from < 0 || from + length > size)
      throw malformed(`${name} ends at byte ${size}, expected ${length} bytes from ${from} on`);
    // Copies, because many APIs that take bytes need a fixed-length ArrayBuffer.
    if (from + length <= headSize) return head.slice(from, from + length);
    const inTail = from - (size - tailSize);
    if (inTail >= 0) return tail.slice(inTail, inTail + length);
    throw new OutsideWindow(`${name}: bytes from ${from} on passed by`);
  }

  return {
    write(chunk) {
      const missing = chunk.subarray(0, Math.max(0, headSize - size));
      if (missing.length > 0) {
        memory.resize(size + missing.length);
        head.set(missing, size);
      }
      const last = chunk.subarray(-tailSize);
      tail.copyWithin(0, last.length);
      tail.set(last, tailSize - last.length);
      size += chunk.length;
    },
    end: () => ({ name, size, read }),
  };
}

/**
 * Checks tables as far as they were kept.
 * @returns notes about the parts that were not checked
 */
export function insideWindow(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof OutsideWindow)) throw error;
    return [
      `its tables are beyond the first ${headSize} bytes of the compressed data, and were not all checked`,
    ];
  }
}
