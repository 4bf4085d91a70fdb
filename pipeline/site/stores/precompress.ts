import { copyFileSync, constants as copying } from "node:fs";
import { join } from "node:path";
import { setImmediate as otherEvents } from "node:timers/promises";
import { feedPath } from "../../documents/feeds/paths.ts";
import type { Encoding } from "../../documents/hosting.ts";
import { hasSameTime, type MadeFile, type StatData } from "../../journal/file-stats.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { compressFile, singleCallLimit } from "./compressors.ts";
import { decodesTo, hasTimeOf, placeSibling } from "./siblings.ts";

/** Smallest size in bytes. Compressing a smaller file saves no network packet. */
const smallest = 8192;

/** Files that may wait for the thread: enough to keep it busy while the main thread renders a large file. */
const maxInProgress = 64;

const compressible = /\.(?:json|html|css|js|svg|atom|md|txt)$|(?:^|\/)SHA256SUMS$/;

/** Settings of hosts are not served. A release changes many parts of the checksum index, and digits compress badly. */
const uncompressed = /^(?:hosting|search\/hash)\//;

export const hasSiblings = ({ path, size }: { path: string; size: number }): boolean =>
  size >= smallest && compressible.test(path) && !uncompressed.test(path) && !feedPath(path);

export interface SiblingOptions {
  encodings: ReadonlySet<Encoding>;
  /** A sibling that has not changed since an earlier build made it. */
  untouched(path: string): MadeFile | undefined;
}

/** A sibling in progress. Its bytes are in a temporary file after `finish` has returned. */
export interface EncodedSibling {
  encoding: Encoding;
  temporary: string;
  /** True if files with the same bytes share the temporary file. */
  isShared: boolean;
}

export function placeEncoded(
  folder: string,
  path: string,
  { encoding, temporary, isShared }: EncodedSibling,
) {
  const own = isShared ? `${temporary}-copy` : temporary;
  if (isShared) copyFileSync(temporary, own, copying.COPYFILE_FICLONE);
  placeSibling(folder, path, encoding, own);
}

export type Encoder = ReturnType<typeof encoder>;

/** @param work a folder on the same file system as the site */
export function encoder(work: string) {
  const inProgress = new Set<Promise<void>>();
  const failures: unknown[] = [];
  // The same list has several addresses; its bytes are compressed only once.
  const large = new Map<string, string>();
  let count = 0;
  const begin = (file: string, encoding: Encoding): string => {
    const temporary = join(work, `encoded-${count++}`);
    const done = compressFile(file, temporary, encoding)
      .catch((error: unknown) => void failures.push(accessFailure(`cannot compress ${file}`, error)))
      .finally(() => inProgress.delete(done));
    inProgress.add(done);
    return temporary;
  };
  return {
    /** Starts to compress a file into the siblings that it needs. @param file path of its bytes */
    encode: (
      { sha256, size }: { sha256: string; size: number },
      file: string,
      encodings: Iterable<Encoding>,
    ) =>
      Array.from(encodings, (encoding): EncodedSibling => {
        const name = `${encoding} ${sha256}`;
        const temporary = large.get(name) ?? begin(file, encoding);
        const isShared = size > singleCallLimit;
        if (isShared) large.set(name, temporary);
        return { encoding, temporary, isShared };
      }),
    /** Handles other events, such as Ctrl-C, then waits until another file may start. */
    async room() {
      await otherEvents();
      while (inProgress.size > maxInProgress) await Promise.race(inProgress);
    },
    /** Waits for all files. @throws RelcatError file-access */
    async finish() {
      await Promise.all(inProgress);
      if (failures.length > 0) throw failures[0];
    },
    /** Waits for all files. Ignores failures, because the build has finished or has failed for another reason. */
    async stop() {
      await Promise.allSettled(inProgress);
    },
  };
}

/** The good siblings of a file; undefined in place of what an earlier build noted: the sibling was compared instead. */
export type SiblingsInPlace = ReadonlyMap<Encoding, MadeFile | undefined>;

/** Siblings that need not be made again. @param statData of the file, if it is as an earlier build left it */
export function siblingsInPlace(
  folder: string,
  { path, size, statData }: { path: string; size: number; statData: StatData | undefined },
  { encodings, untouched }: SiblingOptions,
): SiblingsInPlace {
  const found = new Map<Encoding, MadeFile | undefined>();
  for (const encoding of encodings) {
    const sibling = untouched(`${path}.${encoding}`);
    // Most siblings have the time of their file as both were noted; a build reads the metadata of neither again.
    if (sibling && statData && hasSameTime(sibling.statData, statData)) found.set(encoding, sibling);
    else if (hasTimeOf(folder, path, encoding) && (sibling || decodesTo(folder, path, encoding, size)))
      found.set(encoding, sibling);
  }
  return found;
}
