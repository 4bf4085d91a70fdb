import { crc32 } from "node:zlib";
import { bytesSource } from "../bytes/byte-source.ts";
import { type FramingCursor, framingCursor } from "../bytes/framing.ts";
import { Fault } from "../verdict.ts";
import { mostDictionary, needsMemory } from "./unpacking.ts";

export interface BlockHeader {
  /** Size of the header in bytes. */
  size: number;
  /** Optional size fields. */
  compressed: number | undefined;
  uncompressed: number | undefined;
}

const lzma2 = 0x21;
/**
 * Filters that may precede LZMA2: delta, and BCJ for x86, PowerPC, IA-64, ARM, Thumb, SPARC, ARM64 and
 * RISC-V.
 */
const isKnownBefore = (filter: number) => filter >= 0x03 && filter <= 0x0b;

/**
 * @throws Fault bad-digest; refuse, for a dictionary over 64 MiB; unsupported-format, for a filter in no
 * common use
 */
export function readBlockHeader(cursor: FramingCursor): BlockHeader {
  const size = ((cursor.peek() ?? 0) + 1) * 4;
  const header = Buffer.from(cursor.take(size));
  const body = header.subarray(0, size - 4);
  cursor.expect(crc32(body) === header.readUInt32LE(size - 4), "a block header's checksum is wrong");
  const fields = framingCursor(bytesSource(body, cursor.name));
  fields.byte();
  const flags = fields.byte();
  cursor.expect((flags & 0x3c) === 0, "a block header has unknown flags");
  const compressed = flags & 0x40 ? fields.vli() : undefined;
  const uncompressed = flags & 0x80 ? fields.vli() : undefined;
  const count = (flags & 3) + 1;
  for (let filter = 1; filter <= count; filter++) readFilter(fields, filter === count);
  fields.zeros(body.length - fields.at);
  return { size, compressed, uncompressed };
}

function readFilter(fields: FramingCursor, isLast: boolean): void {
  const id = fields.vli();
  const properties = fields.take(fields.vli());
  if (isLast ? id !== lzma2 : !isKnownBefore(id))
    throw new Fault("unsupported-format", `${fields.name} uses the filter ${id}, which is not known`);
  if (!isLast) return;
  const [bits = 41, ...more] = properties;
  fields.expect(bits <= 40 && more.length === 0, "a block header has no proper dictionary size");
  const dictionary = (2 | (bits & 1)) * 2 ** ((bits >> 1) + 11);
  if (dictionary > mostDictionary) throw needsMemory(fields.name);
}
