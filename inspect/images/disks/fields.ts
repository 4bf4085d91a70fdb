import { areZeros, type ByteSource } from "../../bytes/byte-source.ts";
import { malformed } from "../../verdict.ts";

/** Random access to bytes. For streamed content, only its beginning and end are available. */
export type Bytes = Pick<ByteSource, "name" | "size" | "read">;

export type Fields = ReturnType<typeof fieldsOf>;

export function fieldsOf(raw: Uint8Array, order: "big" | "little", what: string) {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.length);
  const isBig = order === "big";
  const u32 = (at: number) => (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
  return {
    bytes,
    u8: (at: number) => bytes.readUInt8(at),
    u16: (at: number) => (isBig ? bytes.readUInt16BE(at) : bytes.readUInt16LE(at)),
    u32,
    /** @throws Fault malformed above 2^53, which no offset in a file reaches */
    u64(at: number) {
      const value = isBig ? u32(at) * 2 ** 32 + u32(at + 4) : u32(at + 4) * 2 ** 32 + u32(at);
      if (Number.isSafeInteger(value)) return value;
      throw malformed(`${what} has a number at byte ${at} that is larger than any file`);
    },
    text: (at: number, length: number) => bytes.toString("latin1", at, at + length),
    guid: (at: number) => guidAt(bytes, at),
    isZero: (from: number, to: number) => areZeros(bytes.subarray(from, to)),
  };
}

/** A copy, so it stays valid. @throws Fault malformed, if the bytes are incomplete */
export const readFields = (source: Bytes, from: number, length: number, order: "big" | "little"): Fields =>
  fieldsOf(Uint8Array.from(source.read(from, length)), order, source.name);

/** Microsoft's form: the first three groups are little-endian; upper case. */
function guidAt(bytes: Buffer, at: number): string {
  const guid = Buffer.from(bytes.subarray(at, at + 16));
  guid.subarray(0, 4).reverse();
  guid.subarray(4, 8).swap16();
  const groups = /^(.{8})(.{4})(.{4})(.{4})/;
  return guid.toString("hex").replace(groups, "$1-$2-$3-$4-").toUpperCase();
}

/** Bytes of a table read at a time. */
const stretch = 1 << 16;

export function* tableEntries(
  source: Bytes,
  from: number,
  count: number,
  width: number,
  order: "big" | "little",
): Generator<{ fields: Fields; at: number; index: number }> {
  const most = stretch / width;
  for (let first = 0; first < count; first += most) {
    const some = Math.min(most, count - first);
    const fields = readFields(source, from + first * width, some * width, order);
    for (let index = 0; index < some; index++) yield { fields, at: index * width, index: first + index };
  }
}

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

/** Checks tables as far as they were kept. @returns notes about the parts that were not checked */
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
