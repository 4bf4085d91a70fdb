import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import glob from "fast-glob";
import { type Code, failure, type RelcatError } from "../errors.ts";

/** Files below a folder, relative, sorted by code unit; [] when the folder does not exist. */
export async function listFiles(folder: string): Promise<string[]> {
  const found = await glob("**", { cwd: folder, dot: true, onlyFiles: true, deep: 6, suppressErrors: false });
  return found.sort();
}

const concurrency = 32;

/** Reads many files with a bounded number open at once; results stand in the order of the paths. */
export async function readFiles(paths: readonly string[]): Promise<Uint8Array[]> {
  const results = new Array<Uint8Array>(paths.length);
  let next = 0;
  const reader = async () => {
    for (let index = next++; index < paths.length; index = next++) {
      results[index] = await readExisting(paths[index] ?? "");
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, paths.length) }, reader));
  return results;
}

async function readExisting(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
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
  const hint = "Run relcat init to make one, or give the project's folder with -C.";
  throw failure("folder-missing", `there is no folder ${folder} here`, hint);
}

/** A file-system error as a sentence; the cause is kept. */
export function accessFailure(message: string, error: unknown, code: Code = "file-access"): RelcatError {
  const reason = (error as NodeJS.ErrnoException).code ?? String(error);
  return failure(
    code,
    `${message} (${reason})`,
    "Check the path, its permissions and the free space.",
    undefined,
    error,
  );
}

/** Writes chunks to a new file and forces them to disk when `durable`; returns what was written. */
export function writeChunks(
  path: string,
  chunks: Iterable<Uint8Array>,
  durable: boolean,
): { sha256: string; size: number } {
  const hash = createHash("sha256");
  let size = 0;
  const descriptor = openSync(path, "w");
  try {
    for (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.length;
      for (let at = 0; at < chunk.length; ) at += writeSync(descriptor, chunk, at);
    }
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
    writeChunks(temporary, [bytes], true);
    renameSync(temporary, path);
    syncFolder(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw accessFailure(`cannot write ${path}`, error);
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
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
