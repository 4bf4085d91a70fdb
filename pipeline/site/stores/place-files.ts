import {
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  utimesSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { OutputFile } from "../../documents/published.ts";
import { removeSiblings } from "../../journal/siblings.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { writeChunks } from "../../system/files.ts";
import { realFolders } from "../../system/real-folders.ts";

interface Known {
  sha256: string;
  size: number;
}

export interface Counts {
  written: number;
  unchanged: number;
  bytes: number;
}

/** Puts files into their places, each whole or not at all. @param temporary where one lies on its way */
export function placing(
  folder: string,
  temporary: string,
  now: number,
): {
  put(file: OutputFile): Known;
  counts: Counts;
} {
  const counts = { written: 0, unchanged: 0, bytes: 0 };

  // A folder made by this build holds nothing to compare with, nor to remove.
  const made = new Set<string>();
  const folders = realFolders(folder);
  const isInNewFolder = (path: string): boolean => {
    const parent = dirname(path);
    if (folders.make(path)) made.add(parent);
    return made.has(parent);
  };
  const put = new Map<string, Known>();
  /** Into the temporary file. A copy is cheaper than the same bytes made and hashed again. */
  const write = ({ chunks, sameAs }: Pick<OutputFile, "chunks" | "sameAs">, time?: number): Known => {
    const known = sameAs === undefined ? undefined : put.get(sameAs);
    if (sameAs === undefined || !known) return writeChunks(temporary, chunks, false, time);
    copyFileSync(join(folder, sameAs), temporary, constants.COPYFILE_FICLONE);
    if (time !== undefined) utimesSync(temporary, time, time);
    return known;
  };

  const replace = (file: OutputFile): Known => {
    const { path } = file;
    const target = join(folder, path);
    try {
      if (isInNewFolder(path)) {
        const time = modificationTime(path, now, undefined);
        const known = write(file, time);
        renameSync(temporary, target);
        counts.bytes += known.size;
        counts.written++;
        return known;
      }
      const known = write(file);
      counts.bytes += known.size;
      const old = lstatSync(target, { throwIfNoEntry: false });
      if (old?.isFile() && old.size === known.size && sameBytes(temporary, target, known.size)) {
        counts.unchanged++;
        return known;
      }
      counts.written++;
      const time = modificationTime(path, now, old?.mtimeMs);
      utimesSync(temporary, time, time);
      // First, so that nobody is ever sent old bytes compressed beside new ones.
      removeSiblings(folder, path);
      renameSync(temporary, target);
      return known;
    } catch (error) {
      throw accessFailure(`cannot write ${target}`, error);
    }
  };

  return {
    counts,
    put(file) {
      const known = replace(file);
      put.set(file.path, known);
      return known;
    },
  };
}

/** @param size of both, in bytes */
function sameBytes(a: string, b: string, size: number): boolean {
  const files = [openSync(a, "r"), openSync(b, "r")] as const;
  const [left, right] = [
    Buffer.alloc(Math.min(size, comparedAtOnce)),
    Buffer.alloc(Math.min(size, comparedAtOnce)),
  ];
  try {
    for (let at = 0; at < size; at += left.length) {
      const length = readSync(files[0], left, 0, left.length, at);
      if (readSync(files[1], right, 0, length, at) !== length) return false;
      if (left.compare(right, 0, length, 0, length) !== 0) return false;
    }
    return true;
  } finally {
    for (const file of files) closeSync(file);
  }
}

const comparedAtOnce = 1 << 20;

/**
 * Web servers make validators of size and time. Whole seconds, always later than before, and never equal
 * between two representations of one resource: each kind has its own remainder modulo 4.
 * @returns seconds since 1970
 */
export function modificationTime(path: string, now: number, oldMs: number | undefined): number {
  const floor = Math.max(Math.floor(now / 1000), oldMs === undefined ? 0 : Math.floor(oldMs / 1000) + 1);
  return floor + ((((representation(path) - floor) % 4) + 4) % 4);
}

function representation(path: string): number {
  if (path.endsWith(".html")) return 1;
  if (path.includes("ordering=")) return 2;
  return path.endsWith("gone.json") ? 3 : 0;
}
