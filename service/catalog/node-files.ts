import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createBrotliDecompress, createGunzip, createZstdDecompress } from "node:zlib";
import type { BuildDocument } from "../../pipeline/documents/site.ts";
import type { Encoding } from "../http/negotiate.ts";

/** The files do not match build.json, because a build is in progress. */
export class SiteUnfinished extends Error {
  override readonly name = "SiteUnfinished";
}

const suffixes: Record<Encoding, string> = { br: ".br", zstd: ".zst", gzip: ".gz" };
const decoders = { br: createBrotliDecompress, zstd: createZstdDecompress, gzip: createGunzip };
const chunkSize = 64 * 1024;
const chunksAtOnce = 32;

export const fileName = (path: string, encoding: Encoding | undefined): string =>
  path + (encoding ? suffixes[encoding] : "");

/**
 * A file of a build, plain or precompressed; undefined: no such file. Only listed paths are read, so a
 * request cannot reach other files.
 * @throws SiteUnfinished if the plain file does not match the build
 */
export async function readVerified(
  root: string,
  files: BuildDocument["files"],
  path: string,
  encoding: Encoding | undefined,
): Promise<Uint8Array | undefined> {
  const known = Object.hasOwn(files, path) ? files[path] : undefined;
  if (!known) return undefined;
  // biome-ignore lint/plugin: the listed paths were validated when the folder was opened.
  const bytes = await readIfThere(join(root, fileName(path, encoding)));
  if (bytes && (await digestOf(bytes, encoding)) === known.sha256) return bytes;
  if (encoding) return undefined;
  throw new SiteUnfinished(path);
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readExactly(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Unlike `readFile`, does not copy a large file in memory. */
async function readExactly(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { size } = await file.stat();
  const bytes = Buffer.allocUnsafeSlow(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await file.read(bytes, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

export const sha256 = (content: Uint8Array | string): string =>
  createHash("sha256").update(content).digest("hex");

/** SHA-256 of the decoded bytes, computed as a stream; undefined: not decodable. */
async function digestOf(bytes: Uint8Array, encoding: Encoding | undefined): Promise<string | undefined> {
  if (!encoding) return sha256(bytes);
  const hash = createHash("sha256");
  let chunks = 0;
  try {
    for await (const chunk of decoders[encoding]({ chunkSize }).end(bytes)) {
      hash.update(chunk);
      if (++chunks % chunksAtOnce === 0) releaseNewMemory();
    }
  } catch {
    return undefined;
  }
  return hash.digest("hex");
}

type Collect = (options: { type: "major" | "minor"; execution?: "async"; flavor?: "last-resort" }) => unknown;

setFlagsFromString("--expose-gc");
const collect: Collect | undefined = runInNewContext("globalThis.gc");

/** Collects garbage after reading a site, because V8 would keep the temporary memory for long. */
export const releaseMemory = (): unknown =>
  collect?.({ type: "major", execution: "async", flavor: "last-resort" });

/** Collects only objects that were just created. */
const releaseNewMemory = (): unknown => collect?.({ type: "minor" });
