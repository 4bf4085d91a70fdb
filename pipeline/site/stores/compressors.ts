import { brotliDecompressSync, constants, gunzipSync, zstdDecompressSync } from "node:zlib";
import type { Encoding } from "../../documents/hosting.ts";
import { startThread, type Thread } from "../../system/thread.ts";

/** Largest file, in bytes, that is compressed in one piece. */
export const singleCallLimit = 4 << 20;

type Levels = Readonly<Record<Encoding, number>>;

/**
 * Higher levels cost more than they save: brotli 6 takes 1.5 times as long as 5 and saves 1 % of a page, gzip 9 up to 4
 * times as long as 6 and saves 3 %.
 */
const levels: Levels = { gz: 6, br: 5, zst: 3 };

/** A large list consists mostly of digests: brotli 4 takes eight times as long as brotli 1 and saves only 6 %. */
const largeLevels: Levels = { gz: 6, br: 1, zst: 1 };

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT, ZSTD_c_compressionLevel } = constants;

/** Every file is read into the same buffer: a large one, which would not fit in memory, piece by piece. */
const program = `
const fs = process.getBuiltinModule("node:fs");
const zlib = process.getBuiltinModule("node:zlib");
const { pipeline } = process.getBuiltinModule("node:stream/promises");
const compressors = {
  gz: ["gzipSync", "createGzip"],
  br: ["brotliCompressSync", "createBrotliCompress"],
  zst: ["zstdCompressSync", "createZstdCompress"],
};
const options = {
  gz: (level) => ({ level }),
  br: (level, size) => ({ params: { ${BROTLI_PARAM_QUALITY}: level, ${BROTLI_PARAM_SIZE_HINT}: size } }),
  zst: (level, size) => ({ pledgedSrcSize: size, params: { ${ZSTD_c_compressionLevel}: level } }),
};
const levels = ${JSON.stringify({ whole: levels, large: largeLevels })};
Buffer.poolSize = 0; // Memory of the pool cannot be freed.
const buffer = new Uint8Array(${singleCallLimit + 1});
// The stream asks for the next piece when it has consumed a whole one. After the last, nothing is read.
function* pieces(file, size) {
  const descriptor = fs.openSync(file, "r");
  try {
    for (let left = size, length; left > 0; left -= length) {
      length = 0;
      for (let count = -1; count !== 0; length += count)
        count = fs.readSync(descriptor, buffer, length, buffer.length - length);
      if (length !== Math.min(left, buffer.length)) throw new Error("the file changed while it was read");
      yield buffer.subarray(0, length);
    }
  } finally {
    fs.closeSync(descriptor);
  }
}
async function answer({ file, temporary, encoding }) {
  const [whole, stream] = compressors[encoding];
  const { size } = fs.statSync(file);
  if (size > ${singleCallLimit}) {
    const large = { ...options[encoding](levels.large[encoding], size), chunkSize: ${256 << 10} };
    await pipeline(pieces(file, size), zlib[stream](large), fs.createWriteStream(temporary));
    return;
  }
  const chunkSize = Math.max(size, 64);
  const [bytes = buffer.subarray(0, 0)] = pieces(file, size);
  const compressed = zlib[whole](bytes, { ...options[encoding](levels.whole[encoding], size), chunkSize });
  fs.writeFileSync(temporary, compressed);
  compressed.buffer.transfer(0); // Frees the memory now. Otherwise 70 MB accumulate before a garbage collection.
}
`;

let thread: Thread | undefined;

/** Compresses one file after another in a thread, while this one renders other files. */
export async function compressFile(file: string, temporary: string, encoding: Encoding): Promise<void> {
  if (!thread || thread.hasEnded()) thread = startThread(program);
  await thread.ask({ file, temporary, encoding });
}

/** @throws Error if the bytes are damaged or decode to more than `most` bytes */
export const decompressors: Readonly<Record<Encoding, (bytes: Uint8Array, most: number) => Buffer>> = {
  gz: (bytes, most) => gunzipSync(bytes, { maxOutputLength: most }),
  br: (bytes, most) => brotliDecompressSync(bytes, { maxOutputLength: most }),
  zst: (bytes, most) => zstdDecompressSync(bytes, { maxOutputLength: most }),
};
