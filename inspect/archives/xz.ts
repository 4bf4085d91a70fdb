import { crc32 } from "node:zlib";
import { failure } from "../../shared/errors.ts";
import { type ByteSource, bytesSource, release } from "../bytes/byte-source.ts";
import { type FramingCursor, framingCursor } from "../bytes/framing.ts";
import { badDigest, refused, unsupported } from "../verdict.ts";
import { beyond, inMemoryLimits, maxDictionaryBytes, needsMemory, stopped, type Take } from "./unpacking.ts";

/** Only one input piece and one output chunk are in flight, so larger pieces only cost memory. */
const pieceSize = 16 * 1024;

/**
 * Decompresses all streams. Block offsets, sizes and dictionaries are checked first, because the decoder has no memory
 * limit and may stop early without an error.
 * @throws Fault bad-digest, refuse, unsupported-format; RelcatError, if the decoder's native module is not installed
 */
export async function unpackXz(source: ByteSource, take: Take, limit: number): Promise<void> {
  const declared = walkXz(source);
  if (declared > limit) throw beyond(source.name, limit);
  const { xz } = await decoder();
  const isShort = source.size <= inMemoryLimits.packed && declared <= inMemoryLimits.unpacked;
  const size = await (isShort ? unpackShort : unpackStream)(xz, source, take);
  if (size !== declared) throw damaged(source, `${size} bytes came out, expected ${declared}`);
}

type Decoder = typeof import("@napi-rs/lzma")["xz"];

async function unpackShort(xz: Decoder, source: ByteSource, take: Take): Promise<number> {
  const unpacked = unpackedAtOnce(xz, source);
  if (unpacked.length > 0) await take(unpacked);
  return unpacked.length;
}

function unpackedAtOnce(xz: Decoder, source: ByteSource): Uint8Array {
  const packed = source.read(0, source.size);
  try {
    return xz.decompressSync(packed);
  } catch (error) {
    throw damaged(source, (error as Error).message);
  }
}

/** @returns size of the output in bytes */
async function unpackStream(xz: Decoder, source: ByteSource, take: Take): Promise<number> {
  const input = handOver();
  const output = xz.decompressStream(input.stream).getReader();
  const feeding = feed(source, input).then(
    () => undefined,
    (reason: unknown) => {
      // The decoder may be in the middle of a piece and never answer, so its promise is not awaited.
      input.fail(reason);
      output.cancel(reason).catch(() => {});
      return reason;
    },
  );
  const [drained] = await Promise.allSettled([drain(output, source, take)]);
  input.stop();
  output.cancel().catch(() => {});
  const reason = await feeding;
  if (reason !== undefined && reason !== stopped) throw reason;
  if (drained.status === "rejected") throw drained.reason;
  return drained.value;
}

/** Input queue of the decoder: it pulls one piece at a time, and a waiting writer can be cancelled. */
function handOver() {
  let control: ReadableStreamDefaultController<Uint8Array>;
  let isStopped = false;
  let asked = Promise.withResolvers<void>();
  asked.promise.catch(() => {});
  const stop = () => {
    isStopped = true;
    asked.reject(stopped);
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        control = controller;
      },
      pull: () => asked.resolve(),
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
  return {
    stream,
    async give(piece: Uint8Array): Promise<void> {
      await asked.promise;
      if (isStopped) throw stopped;
      asked = Promise.withResolvers();
      asked.promise.catch(() => {});
      control.enqueue(piece);
    },
    end(): void {
      if (isStopped) throw stopped;
      control.close();
    },
    fail: (reason: unknown) => control.error(reason),
    stop,
  };
}

type Input = ReturnType<typeof handOver>;
type Output = ReadableStreamDefaultReader<Uint8Array>;

const damaged = ({ name }: ByteSource, how: string) => badDigest(`${name} is damaged: ${how}`);

async function decoder() {
  try {
    return await import("@napi-rs/lzma");
  } catch (cause) {
    throw failure(
      "decoder-missing",
      "xz files cannot be read: the part of @napi-rs/lzma for this machine is not installed",
      'Run npx -c "npm install" in the project. npm leaves that part out if its own Node is too old for it.',
      undefined,
      cause,
    );
  }
}

async function feed(source: ByteSource, input: Input): Promise<void> {
  // Two alternating buffers: when the decoder requests another piece, it has copied the one before the last.
  const pieces = [new Uint8Array(pieceSize), new Uint8Array(pieceSize)] as const;
  let turn: 0 | 1 = 0;
  await source.each(async (chunk) => {
    for (let from = 0; from < chunk.length; from += pieceSize) {
      const piece = chunk.subarray(from, from + pieceSize);
      pieces[turn].set(piece);
      await input.give(pieces[turn].subarray(0, piece.length));
      turn = turn === 0 ? 1 : 0;
    }
  });
  input.end();
}

async function drain(output: Output, source: ByteSource, take: Take): Promise<number> {
  for (let size = 0; ; ) {
    const { value } = await output.read().catch((error: Error) => {
      throw damaged(source, error.message);
    });
    if (!value) return size;
    size += value.length;
    await take(value);
    release(value);
  }
}

const lzma2 = 0x21;
/** Filters that may precede LZMA2: delta, and BCJ for x86, PowerPC, IA-64, ARM, Thumb, SPARC, ARM64 and RISC-V. */
const isKnownBefore = (filter: number) => filter >= 0x03 && filter <= 0x0b;

/** @throws Fault bad-digest; refuse, for a dictionary over 64 MiB; unsupported-format, for a filter in no common use */
function readBlockHeader(cursor: FramingCursor) {
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
    throw unsupported(`${fields.name} uses the filter ${id}, which is not known`);
  if (!isLast) return;
  const [bits = 41, ...more] = properties;
  fields.expect(bits <= 40 && more.length === 0, "a block header has no proper dictionary size");
  const dictionary = (2 | (bits & 1)) * 2 ** ((bits >> 1) + 11);
  if (dictionary > maxDictionaryBytes) throw needsMemory(fields.name);
}

/**
 * Reads only the framing of an xz file (The .xz File Format 1.2.1). @returns size of all streams in bytes, uncompressed
 * @throws Fault bad-digest, for bad framing or trailing bytes; refuse, for a dictionary over 64 MiB; unsupported-format
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
const maxBlocks = 1 << 20;

function walkStream(cursor: FramingCursor): number {
  const flags = streamHeader(cursor);
  const checkSize = checkSizes.get(flags);
  if (checkSize === undefined)
    throw unsupported(`${cursor.name} has checks of kind ${flags}, expected CRC32, CRC64 or SHA-256`);
  // Unpadded and uncompressed size of each block; the index must repeat them.
  const sizes: number[] = [];
  let total = 0;
  while (cursor.peek() !== 0) {
    const uncompressed = walkBlock(cursor, checkSize, sizes);
    total += uncompressed;
    if (sizes.length > 2 * maxBlocks) throw refused(`${cursor.name} has over ${maxBlocks} blocks`);
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
