import type { Transform } from "node:stream";
import { promisify } from "node:util";
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
} from "node:zlib";
import type { Encoding } from "../documents/hosting.ts";

/** How much of a file is read and written at a time, in bytes. */
export const chunkSize = 1 << 20;

type Compress = (bytes: Uint8Array, isLittle: boolean) => Promise<Uint8Array>;

/** The level for little. */
const well = 9;

/** The levels for much, as below. */
export const quickly: Readonly<Record<Encoding, number>> = { gz: 6, br: 4, zst: 3 };

/**
 * Pages and documents repeat themselves: brotli 9 makes a third less of them than brotli 4 and handles 11 MB
 * a second on two cores, 4 handles 65; gzip 9 takes twice the time of 6 for 3 %. So little is compressed well, and
 * much in bounded time.
 */
export const compressors: Readonly<Record<Encoding, Compress>> = {
  gz: (bytes, isLittle) => promisify(gzip)(bytes, { level: isLittle ? well : quickly.gz }),
  br: (bytes, isLittle) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: isLittle ? well : quickly.br,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  zst: (bytes, isLittle) =>
    promisify(zstdCompress)(bytes, {
      params: { [constants.ZSTD_c_compressionLevel]: isLittle ? well : quickly.zst },
    }),
};

/** As for much, of what is too large to lie in memory. */
export const largeCompressors: Readonly<Record<Encoding, (size: number) => Transform>> = {
  gz: () => createGzip({ level: quickly.gz, chunkSize }),
  br: (size) =>
    createBrotliCompress({
      chunkSize,
      params: { [constants.BROTLI_PARAM_QUALITY]: quickly.br, [constants.BROTLI_PARAM_SIZE_HINT]: size },
    }),
  zst: (size) =>
    createZstdCompress({
      chunkSize,
      pledgedSrcSize: size,
      params: { [constants.ZSTD_c_compressionLevel]: quickly.zst },
    }),
};
