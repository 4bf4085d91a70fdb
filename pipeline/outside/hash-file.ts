import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { failure } from "../errors.ts";
import { accessFailure } from "./files.ts";

/** What a file's bytes are. */
export interface Measure {
  sha256: string;
  size: number;
}

/** Called after every chunk: bytes read so far, and those the file had when it was opened. */
export type OnBytes = (done: number, total: number) => void;

/** Smaller ones cost a promise each, which adds up to more memory than they save. */
const chunkSize = 2 * 1024 * 1024;

/**
 * SHA-256 and size of a file of any size, in the memory of two chunks: one is hashed while the other is read.
 * @throws RelcatError file-changed when the file did not stand still meanwhile; file-access
 */
export async function hashFile(path: string, onBytes: OnBytes = () => {}): Promise<Measure> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path);
    const before = await handle.stat({ bigint: true });
    const total = Number(before.size);
    const { sha256, size } = await digest(handle, total, (done) => onBytes(done, total));
    // Of the open file and of the path: a build that renames a new file into place changes only the second.
    for (const after of [await handle.stat({ bigint: true }), await stat(path, { bigint: true })]) {
      if (size !== total || !isSame(before, after)) throw changed(path);
    }
    return { sha256, size };
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall ? accessFailure(`cannot read ${path}`, error) : error;
  } finally {
    await handle?.close();
  }
}

/** Reads to the end, or to the first byte that was not there before. */
async function digest(handle: FileHandle, total: number, onChunk: (done: number) => void): Promise<Measure> {
  const hash = createHash("sha256");
  const chunk = Math.min(chunkSize, total + 1);
  let full = Buffer.allocUnsafeSlow(chunk);
  let spare = Buffer.allocUnsafeSlow(chunk);
  let size = 0;
  let reading = handle.read(full, 0, chunk, 0);
  try {
    for (;;) {
      const { bytesRead } = await reading;
      if (bytesRead === 0 || size > total) return { sha256: hash.digest("hex"), size };
      size += bytesRead;
      reading = handle.read(spare, 0, chunk, size);
      hash.update(full.subarray(0, bytesRead));
      [full, spare] = [spare, full];
      onChunk(size);
    }
  } finally {
    await reading.catch(() => {}); // Nobody waits for it any more; its failure must not end the process.
  }
}

const isSame = (a: BigIntStats, b: BigIntStats) =>
  a.size === b.size &&
  a.mtimeNs === b.mtimeNs &&
  a.ctimeNs === b.ctimeNs &&
  a.ino === b.ino &&
  a.dev === b.dev;

const changed = (path: string) =>
  failure(
    "file-changed",
    `${path} was changed while it was read`,
    "Wait until the build has finished, then run the command again.",
    { file: path, line: 1, column: 1 },
  );
