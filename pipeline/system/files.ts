import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  fsyncSync,
  futimesSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { isLinkRefused, syncToDisk } from "../../shared/disk.ts";
import { failure, type Problem } from "../../shared/errors.ts";
import { accessFailure, accessing, nearestEntry, refuseSpecial } from "./access-failure.ts";
import { inParallel } from "./in-parallel.ts";

const concurrency = 32;

/** Reads with a limited number of open files; results are in the order of the paths. */
export const readFiles = (paths: readonly string[]): Promise<Uint8Array[]> =>
  inParallel(paths, concurrency, readExisting);

async function readExisting(path: string): Promise<Uint8Array> {
  try {
    refuseSpecial(path);
    return await readFile(path);
  } catch (error) {
    throw accessFailure(`cannot read ${path}`, error);
  }
}

export const readPresent = (path: string): Uint8Array =>
  accessing(`cannot read ${path}`, () => {
    refuseSpecial(path);
    return readFileSync(path);
  });

/** undefined: the file is missing. */
export function readIfPresent(path: string): Uint8Array | undefined {
  try {
    refuseSpecial(path);
    return readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw accessFailure(`cannot read ${path}`, error);
  }
}

const chunkSize = 1 << 20;

/** Reads the file in chunks, which share one buffer, because separate ones would be garbage collected late. */
export function digestOf(path: string): { sha256: string; size: number } {
  const hash = createHash("sha256");
  let size = 0;
  refuseSpecial(path);
  const descriptor = openSync(path, "r");
  try {
    // One byte more shows the end of the file.
    const buffer = Buffer.allocUnsafeSlow(Math.min(chunkSize, fstatSync(descriptor).size + 1));
    for (let length = -1; length !== 0; size += length) {
      length = readSync(descriptor, buffer, 0, buffer.length, size);
      hash.update(buffer.subarray(0, length));
    }
  } finally {
    closeSync(descriptor);
  }
  return { sha256: hash.digest("hex"), size };
}

export const isMissing = (error: unknown) => {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOENT" || code === "ENOTDIR";
};

export const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** @throws RelcatError folder-missing */
export function requireFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  const hint =
    "Run relcat init to create one, or give the project's folder with -C. A project above this folder counts if it is yours.";
  throw failure("folder-missing", `there is no folder ${folder} here`, hint);
}

const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0 } = constants;
const replacing = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;

/**
 * Refuses a symbolic link at the path, because the bytes would go to its target.
 * @param durable whether the bytes are synced to disk
 * @param time modification time in seconds since 1970; default: now
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

/** Atomic replacement that survives a power failure: temporary file, fsync, rename, fsync. It keeps the permissions. */
export function replaceDurably(path: string, bytes: Uint8Array): void {
  const temporary = join(dirname(path), `.relcat-tmp-${basename(path)}`);
  try {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode;
    mkdirSync(dirname(path), { recursive: true });
    rmSync(temporary, { force: true });
    writeChunks(temporary, [bytes], true);
    // Some file systems refuse even a change to the same permissions.
    if (mode !== undefined && mode !== statSync(temporary).mode) chmodSync(temporary, mode);
    renameSync(temporary, path);
    syncToDisk(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw accessFailure(`cannot write ${path}`, error);
  }
}

/** @throws RelcatError file-access if a link leads the path to a folder that is not allowed */
export function refuseLinkedPlace(path: string, isAllowed: InProject): void {
  const folder = nearestEntry(dirname(path));
  // The target of a dangling link could be created anywhere.
  if (exists(folder) && isAllowed(realpathSync(folder))) return;
  throw failure(
    "file-access",
    `cannot write ${path}: ${folder} is, or goes through, a symbolic link that leads out of the project or to nothing`,
    "Replace the link with a folder. Nothing was written.",
  );
}

/** Creates a file atomically, under the folder's lock. @param isAllowed whether a real folder may get the file */
export function createFile(path: string, content: string | Uint8Array, isAllowed: InProject): void {
  refuseLinkedPlace(path, isAllowed);
  if (exists(path)) {
    throw failure("file-exists", `${path} already exists`, "Nothing was overwritten; move it away first.");
  }
  replaceDurably(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
}

/** Places a file as a hard link, which takes no space, or as a copy with its time. @returns whether it is a copy */
export function linkOrCopy(from: string, to: string): boolean {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
    return false;
  } catch (error) {
    if (!isLinkRefused(error)) throw error;
    copyWithTime(from, to);
    return true;
  }
}

/** @param dated file whose time the copy gets; default: the source */
export function copyWithTime(from: string, to: string, dated = from): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  const { atime, mtime } = statSync(dated);
  utimesSync(to, atime, mtime);
}

/** A missing file is not an error. */
export const removeFile = (path: string): void =>
  accessing(`cannot remove ${path}`, () => rmSync(path, { force: true }));

/** True if an existing path is inside a folder, with links resolved. */
export const isBelow = (folder: string, path: string): boolean =>
  `${realpathSync(path)}/`.startsWith(`${realpathSync(folder)}/`);

/** True if a real path belongs to the project. */
export type InProject = (realPath: string) => boolean;

/**
 * Allowed targets of links in a releases folder. Messages print lines of files, so a link to another file
 * would show its content in a CI log; hidden files are excluded too, because .git/config may contain a token.
 * @param folder the releases folder; its parent is the project
 */
export function inProject(folder: string): InProject {
  const roots = [`${folder}/..`, folder].map((root) => realpathSync(root));
  return (realPath) => roots.some((root) => !/(?:^|\/)\./.test(relative(root, realPath)));
}

/** @throws RelcatError file-access if a link takes the path outside the project */
export function refuseForeignLink(folder: string, path: string): void {
  const file = `${folder}/${path}`;
  // A missing file is reported by the caller.
  if (!existsSync(file) || inProject(folder)(realpathSync(file))) return;
  const { code, message, hint } = foreignLink(file);
  throw failure(code, message, hint);
}

export const foreignLink = (path: string): Problem => ({
  code: "file-access",
  severity: "error",
  message: `${path} is a symbolic link that leads out of the project, or to a hidden file`,
  hint: "Nothing of it was read. Put a copy of the file in the link's place.",
});
