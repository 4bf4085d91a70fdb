import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fsyncSync,
  futimesSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { failure, type Problem, throwErrors } from "../errors.ts";
import { accessFailure } from "./access-failure.ts";
import { inParallel } from "./in-parallel.ts";
import { foreignLink, type InProject } from "./project-links.ts";

/**
 * Files below a folder, relative, sorted by code unit, without hidden ones; [] when the folder does not exist.
 * Links are followed: a set of build outputs is often a folder of links.
 * @param isAllowed whether a link may lead to a real path; default: to any
 * @throws RelcatError file-access for every link that leads nowhere, back into its own path, or where it may not
 */
export async function listFiles(folder: string, isAllowed: InProject = () => true): Promise<string[]> {
  const problems: Problem[] = [];
  const files = await listBelow(folder, [], { problems, isAllowed });
  throwErrors(problems.sort((a, b) => (a.message < b.message ? -1 : 1)));
  return files.sort();
}

/** @param entered real paths of the folders that links led into so far */
async function listBelow(
  folder: string,
  entered: readonly string[],
  listing: { problems: Problem[]; isAllowed: InProject },
): Promise<string[]> {
  const { problems, isAllowed } = listing;
  const { default: glob } = await import("fast-glob"); // Not every command lists a folder.
  const entries = await glob("**", {
    cwd: folder,
    onlyFiles: false,
    followSymbolicLinks: false,
    objectMode: true,
    unique: false, // One pattern finds nothing twice.
  });
  const files: string[] = [];
  for (const { path, dirent } of entries) {
    if (!dirent.isSymbolicLink()) {
      if (!dirent.isDirectory()) files.push(path);
      continue;
    }
    const whole = join(folder, path);
    const target = statSync(whole, { throwIfNoEntry: false });
    if (!target) problems.push(badLink(whole, "is a link to something that is not there"));
    else if (!isAllowed(realpathSync(whole))) problems.push(foreignLink(whole));
    else if (!target.isDirectory()) files.push(path);
    else {
      const place = realpathSync(whole);
      const above = [...entered, realpathSync(dirname(whole))];
      if (above.some((other) => `${other}/`.startsWith(`${place}/`))) {
        problems.push(badLink(whole, "is a link into its own path"));
        continue;
      }
      for (const name of await listBelow(whole, above, listing)) files.push(`${path}/${name}`);
    }
  }
  return files;
}

const badLink = (path: string, message: string): Problem => ({
  code: "file-access",
  severity: "error",
  message: `${path} ${message}`,
  hint: "Mend or remove the link.",
});

const concurrency = 32;

/** Reads many files with a bounded number open at once; results stand in the order of the paths. */
export const readFiles = (paths: readonly string[]): Promise<Uint8Array[]> =>
  inParallel(paths, concurrency, readExisting);

async function readExisting(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw accessFailure(`cannot read ${path}`, error);
  }
}

/** The bytes of a file that must be there. */
export function readPresent(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw accessFailure(`cannot read ${path}`, error);
  }
}

/** The bytes of a file, undefined when there is none. */
export function readIfPresent(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw accessFailure(`cannot read ${path}`, error);
  }
}

/**
 * Fills a buffer with what an open file has from a place on, in bytes.
 * @returns how much was there: less than the buffer holds where the file ends
 */
export function readInto(buffer: Uint8Array, descriptor: number, place: number): number {
  let filled = 0;
  for (let read = -1; filled < buffer.length && read !== 0; filled += read)
    read = readSync(descriptor, buffer, filled, buffer.length - filled, place + filled);
  return filled;
}

/**
 * A file's bytes in pieces of a size, the last one shorter. Each is good until the next one: memory of their own would be
 * collected late. Who takes them must not ask ahead.
 */
export function* piecesOf(path: string, size: number): Generator<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(size);
  const descriptor = openSync(path, "r");
  try {
    for (let at = 0, length: number; ; at += length) {
      length = readInto(buffer, descriptor, at);
      if (length === 0) return;
      yield buffer.subarray(0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** A file's SHA-256 and size, read piece by piece. */
export function digestOf(path: string): { sha256: string; size: number } {
  const hash = createHash("sha256");
  let size = 0;
  for (const piece of piecesOf(path, pieceSize)) {
    hash.update(piece);
    size += piece.length;
  }
  return { sha256: hash.digest("hex"), size };
}

const pieceSize = 1 << 20;

export const isMissing = (error: unknown) => {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOENT" || code === "ENOTDIR";
};

export function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** @throws RelcatError folder-missing */
export function requireFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  const hint =
    "Run relcat init to make one, or give the project's folder with -C. A project above this folder counts if it is yours.";
  throw failure("folder-missing", `there is no folder ${folder} here`, hint);
}

const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0 } = constants;
const replacing = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;

/**
 * Writes chunks to a file and forces them to disk when `durable`; returns what was written. A symbolic link there is
 * refused: the bytes would go where it leads.
 * @param time of the file, in seconds since 1970; default: now
 */
export function writeChunks(
  path: string,
  chunks: Iterable<Uint8Array>,
  durable: boolean,
  time?: number,
): { sha256: string; size: number } {
  const hash = createHash("sha256");
  let size = 0;
  const descriptor = openSync(path, replacing);
  try {
    for (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.length;
      for (let at = 0; at < chunk.length; ) at += writeSync(descriptor, chunk, at);
    }
    if (time !== undefined) futimesSync(descriptor, time, time);
    if (durable) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return { sha256: hash.digest("hex"), size };
}

/** Replaces a file in one step and makes the change survive a power cut: temporary file, fsync, rename, fsync. */
export function replaceDurably(path: string, bytes: Uint8Array): void {
  const temporary = join(dirname(path), `.relcat-tmp-${basename(path)}`);
  try {
    mkdirSync(dirname(path), { recursive: true });
    rmSync(temporary, { force: true });
    writeChunks(temporary, [bytes], true);
    renameSync(temporary, path);
    syncToDisk(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw accessFailure(`cannot write ${path}`, error);
  }
}

/** Makes a file's bytes, or the names in a folder, survive a power cut. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Creates a file that must not exist yet, whole or not at all. The caller holds the folder's lock. */
export function createFile(path: string, text: string): void {
  if (exists(path)) {
    throw failure("file-exists", `${path} exists already`, "Nothing was overwritten; move it away first.");
  }
  replaceDurably(path, new TextEncoder().encode(text));
}

/** Removes a file that may be gone already. */
export function removeFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw accessFailure(`cannot remove ${path}`, error);
  }
}

/** Whether something that exists lies in a folder, links resolved. */
export function isBelow(folder: string, path: string): boolean {
  return `${realpathSync(path)}/`.startsWith(`${realpathSync(folder)}/`);
}
