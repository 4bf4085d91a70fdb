import {
  closeSync,
  copyFileSync,
  constants as copying,
  createWriteStream,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Encoding, encodings } from "../documents/hosting.ts";
import { RelcatError } from "../errors.ts";
import { accessFailure } from "../system/access-failure.ts";
import { piecesOf, readInto, writeChunks } from "../system/files.ts";
import { chunkSize, compressors, decompressors, largeCompressors, little } from "./compressors.ts";

/** A sibling to be made: `file.gz`, `file.br` or `file.zst` beside each of the files that have the same bytes. */
export interface Sibling {
  encoding: Encoding;
  /** In the site's folder; the bytes are read from the first. */
  paths: readonly [string, ...string[]];
  /** Of the file, in bytes. */
  size: number;
}

/**
 * Compresses a file into its place. A sibling is whole and of its file's time, or it is not there.
 * @param temporary where it lies on its way, in the same file system
 * @param joined the compressed bytes, where they are made otherwise than of the file
 * @throws RelcatError file-access
 */
export async function writeSibling(
  folder: string,
  temporary: string,
  { encoding, paths, size }: Sibling,
  joined?: Iterable<Uint8Array>,
): Promise<void> {
  const file = join(folder, paths[0]);
  try {
    if (joined) await pipeline(joined, createWriteStream(temporary));
    else if (size <= little) writeChunks(temporary, [compressors[encoding](readWhole(file, size))], false);
    else await writeLarge(file, temporary, encoding, size);
    for (const path of paths.slice(1)) place(temporary, join(folder, path), encoding, copyOf(temporary));
    place(temporary, file, encoding, temporary);
  } catch (error) {
    // What goes wrong with a copy, or while parts are made, is no fault of this file's.
    throw error instanceof RelcatError ? error : accessFailure(`cannot write ${file}.${encoding}`, error);
  }
}

/** One for all files: what each of them would leave behind is collected late. */
let shared = Buffer.alloc(0);

/** @returns the file's bytes, until the next is read */
function readWhole(file: string, size: number): Uint8Array {
  if (shared.length < size) shared = Buffer.allocUnsafeSlow(size);
  const descriptor = openSync(file, "r");
  try {
    return shared.subarray(0, readInto(shared.subarray(0, size), descriptor, 0));
  } finally {
    closeSync(descriptor);
  }
}

const writeLarge = (file: string, temporary: string, encoding: Encoding, size: number) =>
  pipeline(piecesOf(file, chunkSize), largeCompressors[encoding](size), createWriteStream(temporary));

const copyOf = (temporary: string) => `${temporary}-copy`;

function place(temporary: string, file: string, encoding: Encoding, made: string): void {
  try {
    if (made !== temporary) copyFileSync(temporary, made, copying.COPYFILE_FICLONE);
    const { mtime } = statSync(file);
    utimesSync(made, mtime, mtime);
    renameSync(made, `${file}.${encoding}`);
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
    return decompressors[encoding](compressed, size).equals(readWhole(file, size));
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
