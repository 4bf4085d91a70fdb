import {
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  openSync,
  readSync,
  rmSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import type { OutputFile, OutputGroup } from "../../documents/published.ts";
import { relativePath } from "../../documents/relative-path.ts";
import type { MadeGroup, StatData } from "../../journal/file-stats.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { writeChunks } from "../../system/files.ts";
import { realFolders } from "../../system/real-folders.ts";
import {
  type EncodedSibling,
  type Encoder,
  hasSiblings,
  type SiblingOptions,
  type SiblingsInPlace,
  siblingsInPlace,
} from "./precompress.ts";

/**
 * Web servers derive validators from size and time. Times are whole seconds, always increasing, and differ between
 * representations: each kind has its own remainder modulo 4. @returns seconds since 1970
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

export interface RenderedFile {
  path: string;
  sha256: string;
  size: number;
  /** Path of the rendered file; undefined: the file in the output folder is identical. */
  temporary: string | undefined;
  /** As an earlier build noted it, if no one has changed the file since; undefined: it is read when the file is in place. */
  statData: StatData | undefined;
  /** Siblings that must be compressed again. */
  siblings: readonly EncodedSibling[];
  /** The other siblings. */
  siblingsInPlace: SiblingsInPlace;
}

const withoutSiblings = { statData: undefined, siblings: [], siblingsInPlace: new Map() };

export type RenderedGroup = Pick<OutputGroup, "name" | "key"> & { files: readonly RenderedFile[] };

/** Writes files into a temporary folder; a file whose bytes equal the one in place is discarded. */
export function rendering(
  folder: string,
  work: string,
  now: number,
  options: SiblingOptions,
  encoder: Encoder,
) {
  const folders = realFolders(folder);
  let count = 0;
  // biome-ignore lint/plugin: paths that the build made, checked before anything is written.
  const inPlace = (path: string) => join(folder, path);
  const statOf = (path: string) => {
    const stat = lstatSync(inPlace(path), { throwIfNoEntry: false });
    return stat && folders.holds(path) ? stat : undefined;
  };
  const write = ({ path, chunks }: OutputFile, same: RenderedFile | undefined): RenderedFile => {
    // biome-ignore lint/plugin: a number.
    const temporary = join(work, String(count++));
    const old = statOf(path);
    const time = modificationTime(path, now, old?.mtimeMs);
    const { sha256, size } = same ?? writeChunks(temporary, chunks, false, time);
    if (same) {
      // Copying is cheaper than rendering and hashing the same bytes again.
      copyFileSync(same.temporary ?? inPlace(same.path), temporary, constants.COPYFILE_FICLONE);
      utimesSync(temporary, time, time);
    }
    const isSame = old?.isFile() === true && old.size === size && sameBytes(temporary, inPlace(path), size);
    if (isSame) rmSync(temporary);
    return { ...withoutSiblings, path, sha256, size, temporary: isSame ? undefined : temporary };
  };
  const encoded = async (file: RenderedFile): Promise<RenderedFile> => {
    if (!hasSiblings(file)) return file;
    const { path, temporary } = file;
    const kept = temporary === undefined ? siblingsInPlace(folder, file, options) : new Map();
    const missing = [...options.encodings].filter((encoding) => !kept.has(encoding));
    await encoder.room();
    const siblings = encoder.encode(file, temporary ?? inPlace(path), missing);
    return { ...file, siblings, siblingsInPlace: kept };
  };
  const render = (file: OutputFile, same?: RenderedFile): RenderedFile => {
    relativePath(file.path); // A forged cache entry must not lead outside the folder.
    try {
      return write(file, same);
    } catch (error) {
      if (!(error as NodeJS.ErrnoException).syscall) throw error;
      throw accessFailure(`cannot write ${inPlace(file.path)}`, error);
    }
  };
  return {
    file: (file: OutputFile) => render(file),
    async group({ name, key, files }: OutputGroup): Promise<RenderedGroup> {
      const byPath = new Map<string, RenderedFile>();
      for (const file of files) {
        const same = file.sameAs === undefined ? undefined : byPath.get(file.sameAs);
        byPath.set(file.path, await encoded(render(file, same)));
      }
      return { name, key, files: [...byPath.values()] };
    },
    /** A group whose files in place are unchanged since an earlier build. */
    async kept({ name, key, files }: MadeGroup): Promise<RenderedGroup> {
      const kept: RenderedFile[] = [];
      for (const file of files)
        kept.push(await encoded({ ...withoutSiblings, ...file, temporary: undefined }));
      return { name, key, files: kept };
    },
  };
}

/** @param size of both, in bytes */
function sameBytes(a: string, b: string, size: number): boolean {
  const files = [openSync(a, "r"), openSync(b, "r")] as const;
  const left = Buffer.alloc(Math.min(size, comparedAtOnce));
  const right = Buffer.alloc(left.length);
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
