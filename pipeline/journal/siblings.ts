import {
  createWriteStream,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Encoding, encodings } from "../documents/hosting.ts";
import { accessFailure } from "../system/access-failure.ts";
import { piecesOf } from "../system/files.ts";
import { chunkSize, compress, decompressors, largeCompressors, little } from "./compressors.ts";

/** Compresses a file in libuv's pool. */
export async function encodeFile(
  file: string,
  temporary: string,
  encoding: Encoding,
  size: number,
): Promise<void> {
  if (size <= little) writeFileSync(temporary, await compress[encoding](readFileSync(file)));
  else {
    const pieces = piecesOf(file, chunkSize);
    await pipeline(pieces, largeCompressors[encoding](size), createWriteStream(temporary));
  }
}

/**
 * Compresses a file of a site into its place next to it.
 * @param temporary a path in the same file system
 * @throws RelcatError file-access
 */
export async function writeSibling(
  folder: string,
  temporary: string,
  { path, encoding, size }: { path: string; encoding: Encoding; size: number },
): Promise<void> {
  const file = join(folder, path);
  try {
    await encodeFile(file, temporary, encoding, size);
  } catch (error) {
    throw accessFailure(`cannot write ${file}.${encoding}`, error);
  }
  placeSibling(folder, path, encoding, temporary);
}

/**
 * Moves compressed bytes into their place next to a file. A sibling is whole and has its file's time, or it does not
 * exist.
 * @param temporary the compressed bytes, in the same file system
 */
export function placeSibling(folder: string, path: string, encoding: Encoding, temporary: string): void {
  const file = join(folder, path);
  try {
    const { mtime } = statSync(file);
    utimesSync(temporary, mtime, mtime);
    renameSync(temporary, `${file}.${encoding}`);
  } catch (error) {
    throw accessFailure(`cannot write ${file}.${encoding}`, error);
  }
}

/** Whether a sibling is a file with its source's modification time, of which servers make validators. */
export function hasTimeOf(folder: string, path: string, encoding: Encoding): boolean {
  const file = join(folder, path);
  const sibling = lstatSync(`${file}.${encoding}`, { throwIfNoEntry: false });
  return sibling?.isFile() === true && sibling.mtimeMs === statSync(file).mtimeMs;
}

/**
 * Whether a sibling decodes to its source's bytes. A large one is not decoded and does not count: to decode it takes
 * as long as to make it.
 * @param size of the source, in bytes
 */
export function decodesTo(folder: string, path: string, encoding: Encoding, size: number): boolean {
  if (size > little) return false;
  const file = join(folder, path);
  const compressed = readFileSync(`${file}.${encoding}`);
  try {
    return decompressors[encoding](compressed, size).equals(readFileSync(file));
  } catch {
    return false; // Damaged, or of more bytes than its source.
  }
}

/** Whether a compressed file decodes to these bytes. One that would become longer is not decoded any further. */
export function isSiblingOf(compressed: Uint8Array, encoding: Encoding, bytes: Uint8Array): boolean {
  try {
    return decompressors[encoding](compressed, Math.max(1, bytes.length)).equals(bytes);
  } catch {
    return false; // Not compressed, cut off, or longer than the file.
  }
}

export function removeSibling(folder: string, path: string, encoding: Encoding): void {
  const sibling = `${join(folder, path)}.${encoding}`;
  if (lstatSync(sibling, { throwIfNoEntry: false })) rmSync(sibling, { force: true });
}

/** Removes a file's compressed siblings: before its own bytes change, or when it goes. */
export function removeSiblings(folder: string, path: string): void {
  for (const encoding of encodings) removeSibling(folder, path, encoding);
}
