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
import type { Encoding } from "../documents/hosting.ts";

/** How much of a file is read and written at a time, in bytes. */
export const chunkSize = 1 << 20;

/** Up to here a file is compressed in one piece, in bytes. */
export const little = 4 << 20;

type Levels = Readonly<Record<Encoding, number>>;

/**
 * Beyond these each level costs more than it saves: brotli 6 takes half as much time again as 5 for 1 % of a page, gzip 9
 * up to four times that of 6 for 3 %.
 */
const levels: Levels = { gz: 6, br: 5, zst: 3 };

/** A large list is mostly digests: brotli 4 takes eight times as long over it as brotli 1, and saves 6 %. */
const largeLevels: Levels = { gz: 6, br: 1, zst: 1 };

/** Compresses in libuv's pool. */
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

/** @throws Error for damaged bytes, and for those that decode to more than `most` bytes */
export const decompressors: Readonly<Record<Encoding, (bytes: Uint8Array, most: number) => Buffer>> = {
  gz: (bytes, most) => gunzipSync(bytes, { maxOutputLength: most }),
  br: (bytes, most) => brotliDecompressSync(bytes, { maxOutputLength: most }),
  zst: (bytes, most) => zstdDecompressSync(bytes, { maxOutputLength: most }),
};

/** Streams, because a larger file would not fit in memory as a whole. */
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
