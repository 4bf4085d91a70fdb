import {
  constants,
  createGunzip,
  createZstdDecompress,
  type Gunzip,
  gunzipSync,
  type ZstdDecompress,
  zstdDecompressSync,
} from "node:zlib";
import { type ByteSource, release } from "../bytes/byte-source.ts";
import { badDigest, type Fault, unsupported } from "../verdict.ts";
import { beyond, inMemoryLimits, maxDictionaryBytes, needsMemory, stopped, type Take } from "./unpacking.ts";
import { unpackXz } from "./xz.ts";
import { frameEnds } from "./zstd-walk.ts";

/** Large enough that switching to zlib's threads costs little. */
const chunkSize = 1 << 18;
const windowLogMax = Math.log2(maxDictionaryBytes);

const zstdParams = { [constants.ZSTD_d_windowLogMax]: windowLogMax };

/** Decompresses all members of a gzip file (RFC 1952). @throws Fault bad-digest */
async function unpackGzip(source: ByteSource, take: Take): Promise<void> {
  if (await unpackShort(source, gunzipSync, take)) return;
  await unpack(createGunzip({ chunkSize }), source, [], take);
}

/** Decompresses all frames of a Zstandard file (RFC 8878). @throws Fault bad-digest; refuse, for a window over 64 MiB */
async function unpackZstd(source: ByteSource, take: Take): Promise<void> {
  const ends = frameEnds(source);
  const decompress: DecompressSync = (bytes, options) =>
    zstdDecompressSync(bytes, { ...options, params: zstdParams });
  // Node 24 decompresses only the first of several frames, without an error.
  if (ends.length === 1 && (await unpackShort(source, decompress, take))) return;
  await unpack(createZstdDecompress({ chunkSize, params: zstdParams }), source, ends, take);
}

type DecompressSync = (bytes: Uint8Array, options: { info: true; maxOutputLength: number }) => unknown;

/** @returns false if the file was too long */
async function unpackShort(source: ByteSource, decompress: DecompressSync, take: Take): Promise<boolean> {
  if (source.size > inMemoryLimits.packed) return false;
  const unpacked = unpackedSync(source, decompress);
  if (unpacked && unpacked.length > 0) await take(unpacked);
  return unpacked !== undefined;
}

function unpackedSync(source: ByteSource, decompress: DecompressSync): Uint8Array | undefined {
  const packed = source.read(0, source.size);
  try {
    const options = { info: true, maxOutputLength: inMemoryLimits.unpacked } as const;
    // Node's types lack the result of the `info` option.
    const { buffer, engine } = decompress(packed, options) as { buffer: Uint8Array; engine: Engine };
    if (engine.bytesWritten !== source.size) throw followed(source);
    return buffer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw faultOf(error, source) ?? error;
  }
}

type Engine = Gunzip | ZstdDecompress;

async function unpack(
  engine: Engine,
  source: ByteSource,
  ends: readonly number[],
  take: Take,
): Promise<void> {
  const feeding = feed(engine, source, ends);
  feeding.catch((error) => engine.destroy(error));
  try {
    for await (const chunk of engine) {
      await take(chunk);
      release(chunk);
    }
    await feeding;
  } catch (error) {
    throw faultOf(error, source) ?? error;
  } finally {
    engine.destroy();
    await feeding.catch(() => {});
  }
  // The engine skips zeros after the last member.
  if (engine.bytesWritten !== source.size) throw followed(source);
}

const followed = ({ name }: ByteSource) => badDigest(`bytes follow the end of ${name}`);

/** @param ends offsets at which a piece must end, because an engine may ignore the rest of a piece with two frames */
async function feed(engine: Engine, source: ByteSource, ends: readonly number[]): Promise<void> {
  let giveUp = () => {};
  // A failing engine does not call back for the write that failed.
  engine.once("close", () => giveUp());
  const write = (piece: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      giveUp = () => reject(stopped);
      if (engine.destroyed) giveUp();
      else engine.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  let next = 0;
  await source.each(async (chunk, at) => {
    for (let from = 0; from < chunk.length; ) {
      const end = (ends[next] ?? source.size) - at;
      await write(chunk.subarray(from, end));
      from = Math.min(end, chunk.length);
      if (from === end) next++;
    }
  });
  engine.end();
}

function faultOf(error: unknown, source: ByteSource): Fault | undefined {
  // The engine ended before it received everything.
  if (error === stopped) return followed(source);
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (code === "ZSTD_error_frameParameter_windowTooLarge") return needsMemory(source.name);
  if (!/^(Z_|ZSTD_)/.test(code)) return undefined;
  return badDigest(`${source.name} is damaged: ${message}`);
}

/** bzip2 and lzma are recognized but not supported (unsupported-format). */
export type Compression = "none" | "gzip" | "xz" | "zstd" | "bzip2" | "lzma";

const magics: readonly (readonly [Compression, string])[] = [
  ["gzip", "1f8b08"],
  ["xz", "fd377a585a00"],
  ["zstd", "28b52ffd"],
  ["bzip2", "425a68"],
  ["lzma", "5d0000"],
];

/** @param head at least the first six bytes */
export function compressionOf(head: Uint8Array): Compression {
  const hex = Buffer.from(head.subarray(0, 6)).toString("hex");
  return magics.find(([, magic]) => hex.startsWith(magic))?.[0] ?? "none";
}

type Decode = (source: ByteSource, take: Take, limit: number) => Promise<void>;

const decoders: Partial<Record<Compression, Decode>> = {
  none: (source, take) => source.each(take),
  gzip: unpackGzip,
  xz: unpackXz,
  zstd: unpackZstd,
};

/**
 * Decompresses all members, frames and streams. Chunks come in order and are valid only during the call.
 * @param limit largest allowed output in bytes @returns size of the output in bytes
 * @throws Fault refuse, beyond the limit or for a dictionary over 64 MiB; bad-digest, for damaged, truncated or trailing
 * data; unsupported-format. RelcatError, if xz cannot be read on this machine
 */
export async function decompress(
  source: ByteSource,
  compression: Compression,
  limit: number,
  take: Take,
): Promise<number> {
  const decode = decoders[compression];
  if (!decode)
    throw unsupported(`${source.name} is compressed with ${compression}, expected gzip, xz or zstd`);
  let size = 0;
  await decode(
    source,
    (chunk) => {
      size += chunk.length;
      if (size > limit) throw beyond(source.name, limit);
      return take(chunk);
    },
    limit,
  );
  return size;
}
