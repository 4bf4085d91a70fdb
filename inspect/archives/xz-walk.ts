import { crc32 } from "node:zlib";
import type { ByteSource } from "../bytes/byte-source.ts";
import { type FramingCursor, framingCursor } from "../bytes/framing.ts";
import { Fault } from "../verdict.ts";
import { readBlockHeader } from "./xz-block-header.ts";

/**
 * Reads the framing of an xz file (The .xz File Format 1.2.1) without decompressing it.
 * @returns uncompressed size of all streams in bytes
 * @throws Fault bad-digest, for bad framing or trailing bytes; refuse, for a dictionary over 64 MiB;
 * unsupported-format
 */
export function walkXz(source: ByteSource): number {
  const cursor = framingCursor(source);
  let size = 0;
  do {
    size += walkStream(cursor);
    skipStreamPadding(cursor);
  } while (cursor.at < source.size);
  return size;
}

/** Size of a block's check in bytes, by check id; only those that the decoder supports. */
const checkSizes = new Map([
  [0, 0],
  [1, 4],
  [4, 8],
  [10, 32],
]);

/** A compressor does not create more blocks: each would hold only a few bytes. */
const mostBlocks = 1 << 20;

function walkStream(cursor: FramingCursor): number {
  const flags = streamHeader(cursor);
  const checkSize = checkSizes.get(flags);
  if (checkSize === undefined)
    throw new Fault(
      "unsupported-format",
      `${cursor.name} has checks of kind ${flags}, expected CRC32, CRC64 or SHA-256`,
    );
  // Unpadded and uncompressed size of each block; the index must repeat them.
  const sizes: number[] = [];
  let total = 0;
  while (cursor.peek() !== 0) {
    const uncompressed = walkBlock(cursor, checkSize, sizes);
    total += uncompressed;
    if (sizes.length > 2 * mostBlocks)
      throw new Fault("refuse", `${cursor.name} has over ${mostBlocks} blocks`);
  }
  const indexSize = walkIndex(cursor, sizes);
  streamFooter(cursor, flags, indexSize);
  return total;
}

function streamHeader(cursor: FramingCursor): number {
  const header = cursor.take(12);
  const [reserved = 0, flags = 0] = header.subarray(6);
  cursor.expect(header.toString("latin1", 0, 6) === "\xfd7zXZ\0", "a stream does not begin where one should");
  cursor.expect(
    crc32(header.subarray(6, 8)) === header.readUInt32LE(8),
    "a stream header's checksum is wrong",
  );
  cursor.expect(reserved === 0 && flags < 16, "a stream header has unknown flags");
  return flags;
}

/** @param sizes receives the block's two sizes */
function walkBlock(cursor: FramingCursor, checkSize: number, sizes: number[]): number {
  const header = readBlockHeader(cursor);
  const from = cursor.at;
  const uncompressed = walkChunks(cursor);
  const compressed = cursor.at - from;
  cursor.expect(
    (header.compressed ?? compressed) === compressed,
    "a block is not as long as its header says",
  );
  cursor.expect(
    (header.uncompressed ?? uncompressed) === uncompressed,
    "a block's content is not as long as it says",
  );
  cursor.zeros(-compressed & 3);
  cursor.skip(checkSize);
  sizes.push(header.size + compressed + checkSize, uncompressed);
  return uncompressed;
}

/** LZMA2: chunks with compressed and uncompressed size, then a zero. */
function walkChunks(cursor: FramingCursor): number {
  let size = 0;
  for (let control = cursor.byte(); control !== 0; control = cursor.byte()) {
    cursor.expect(control <= 2 || control >= 0x80, "a chunk is of an unknown kind");
    const low = cursor.take(2).readUInt16BE(0) + 1;
    size += control < 0x80 ? low : ((control & 0x1f) << 16) + low;
    if (control < 0x80) cursor.skip(low);
    else cursor.skip(cursor.take(2).readUInt16BE(0) + 1 + (control >= 0xc0 ? 1 : 0));
  }
  return size;
}

/** @returns size of the index in bytes */
function walkIndex(cursor: FramingCursor, sizes: readonly number[]): number {
  cursor.beginSum();
  const from = cursor.at;
  cursor.byte();
  cursor.expect(cursor.vli() * 2 === sizes.length, "the index does not list all blocks");
  for (const size of sizes) cursor.expect(cursor.vli() === size, "the index does not fit the blocks");
  cursor.zeros(-(cursor.at - from) & 3);
  const sum = cursor.sum();
  cursor.expect(cursor.take(4).readUInt32LE(0) === sum, "the index's checksum is wrong");
  return cursor.at - from;
}

function streamFooter(cursor: FramingCursor, flags: number, indexSize: number): void {
  const footer = cursor.take(12);
  cursor.expect(
    crc32(footer.subarray(4, 10)) === footer.readUInt32LE(0),
    "a stream footer's checksum is wrong",
  );
  cursor.expect((footer.readUInt32LE(4) + 1) * 4 === indexSize, "a stream footer does not fit the index");
  cursor.expect(footer[8] === 0 && footer[9] === flags, "a stream ends with other flags than it began");
  cursor.expect(footer.toString("latin1", 10) === "YZ", "a stream does not end where it should");
}

function skipStreamPadding(cursor: FramingCursor): void {
  const from = cursor.at;
  while (cursor.peek() === 0) cursor.byte();
  cursor.expect((cursor.at - from) % 4 === 0, "the padding between streams is not a multiple of 4 bytes");
}
