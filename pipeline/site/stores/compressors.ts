import type { Transform } from "node:stream";
import { promisify } from "node:util";
import {
  brotliCompress,
  brotliDecompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gunzipSync,
  gzip,
  zstdCompress,
  zstdDecompressSync,
} from "node:zlib";
import type { Encoding } from "../../documents/hosting.ts";

/** Bytes of a file that are read and written at a time. */
export const chunkSize = 1 << 20;

/** Largest file, in bytes, that is compressed in one piece. */
export const singleCallLimit = 4 << 20;

type Levels = Readonly<Record<Encoding, number>>;

/**
 * Higher levels cost more than they save: brotli 6 takes 1.5 times as long as 5 and saves 1 % of a page, gzip
 * 9 up to 4 times as long as 6 and saves 3 %.
 */
const levels: Levels = { gz: 6, br: 5, zst: 3 };

/**
 * A large list consists mostly of digests: brotli 4 takes eight times as long as brotli 1 and saves only 6 %.
 */
const largeLevels: Levels = { gz: 6, br: 1, zst: 1 };

/** Compresses in libuv's thread pool, while the main thread renders other files. */
export const compress: Readonly<Record<Encoding, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  gz: (bytes) => promisify(gzip)(bytes, { level: levels.gz }),
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: levels.br,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  zst: (bytes) =>
    promisify(zstdCompress)(bytes, { params: { [constants.ZSTD_c_compressionLevel]: levels.zst } }),
};

/** @throws Error if the bytes are damaged or decode to more than `most` bytes */
export const decompressors: Readonly<Record<Encoding, (bytes: Uint8Array, most: number) => Buffer>> = {
  gz: (bytes, most) => gunzipSync(bytes, { maxOutputLength: most }),
  br: (bytes, most) => brotliDecompressSync(bytes, { maxOutputLength: most }),
  zst: (bytes, most) => zstdDecompressSync(bytes, { maxOutputLength: most }),
};

/** Streams, because a large file would not fit in memory. */
export const largeCompressors: Readonly<Record<Encoding, (size: number) => Transform>> = {
  gz: () => createGzip({ level: largeLevels.gz, chunkSize }),
  br: (size) =>
    createBrotliCompress({
      chunkSize,
      params: {
        [constants.BROTLI_PARAM_QUALITY]: largeLevels.br,
        [constants.BROTLI_PARAM_SIZE_HINT]: size,
      },
    }),
  zst: (size) =>
    createZstdCompress({
      chunkSize,
      pledgedSrcSize: size,
      params: { [constants.ZSTD_c_compressionLevel]: largeLevels.zst },
    }),
};
