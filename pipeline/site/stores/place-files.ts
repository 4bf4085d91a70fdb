import { renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { type MadeFile, type MadeGroup, noStatData, readStatData } from "../../journal/file-stats.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { digestOf } from "../../system/files.ts";
import { realFolders } from "../../system/real-folders.ts";
import { hasSiblings, placeEncoded, removeUnwanted, type SiblingOptions } from "./precompress.ts";
import type { RenderedFile, RenderedGroup } from "./render-files.ts";
import { removeSiblings } from "./siblings.ts";

export interface Counts {
  written: number;
  unchanged: number;
  bytes: number;
}

export interface Placing {
  counts: Counts;
  /** Compressed siblings of all placed files. */
  siblings: MadeFile[];
  /** Places a file that gets no siblings. */
  alone(file: RenderedFile): MadeFile;
  group(group: RenderedGroup): MadeGroup;
}

/** Moves rendered files into place, each whole or not at all. */
export function placing(folder: string, { encodings }: SiblingOptions): Placing {
  const counts = { written: 0, unchanged: 0, bytes: 0 };
  const siblings: MadeFile[] = [];
  const folders = realFolders(folder);
  // A folder made by this build has no files to remove.
  const made = new Set<string>();
  const move = (path: string, temporary: string): void => {
    const target = join(folder, path);
    try {
      if (folders.make(path)) made.add(dirname(path));
      // Removed first, so that no server sends old compressed bytes for a new file.
      if (!made.has(dirname(path))) removeSiblings(folder, path);
      renameSync(temporary, target);
    } catch (error) {
      throw accessFailure(`cannot write ${target}`, error);
    }
  };
  const placeSiblings = (file: RenderedFile): void => {
    const { path } = file;
    removeUnwanted(folder, path, encodings);
    for (const sibling of file.siblings) placeEncoded(folder, path, sibling);
    for (const encoding of encodings) {
      siblings.push(file.siblingsInPlace.get(encoding) ?? noted(folder, `${path}.${encoding}`));
    }
  };
  const place = (file: RenderedFile): MadeFile => {
    const { path, sha256, size, temporary, statData } = file;
    if (temporary === undefined) counts.unchanged++;
    else {
      move(path, temporary);
      counts.written++;
    }
    counts.bytes += size;
    return { path, sha256, size, statData: statData ?? readStatData(join(folder, path)) ?? noStatData };
  };
  return {
    counts,
    siblings,
    alone: place,
    group({ name, key, files }) {
      const made = files.map((file) => {
        const known = place(file);
        if (hasSiblings(file)) placeSiblings(file);
        return known;
      });
      return { name, key, files: made };
    },
  };
}

/** Metadata is read before the content, so that a later change is noticed. */
function noted(folder: string, path: string): MadeFile {
  const file = join(folder, path);
  const statData = readStatData(file) ?? noStatData;
  const { sha256, size } = digestOf(file);
  return { path, sha256, size, statData };
}
