import { copyFileSync, constants as copying } from "node:fs";
import { join } from "node:path";
import { encodings as allEncodings, type Encoding } from "../documents/hosting.ts";
import { accessFailure } from "../system/access-failure.ts";
import { little } from "./compressors.ts";
import type { MadeFile } from "./file-stats.ts";
import { decodesTo, encodeFile, hasTimeOf, placeSibling, removeSibling } from "./siblings.ts";

/** A smaller file compressed saves no network packet. */
const smallest = 8192;

/** Files that are compressed at a time: enough for libuv's pool, few enough for the memory. */
const mostInProgress = 2;

const compressible = /\.(?:json|html|css|js|svg|atom|md|txt)$|(?:^|\/)SHA256SUMS$/;

/** Whether a file of a site gets compressed siblings. */
export const hasSiblings = ({ path, size }: { path: string; size: number }): boolean =>
  size >= smallest && compressible.test(path) && !path.startsWith("hosting/");

/** How siblings are made, and which are trusted. */
export interface SiblingOptions {
  encodings: ReadonlySet<Encoding>;
  /** A sibling that has not changed since an earlier build made it. */
  untouched(path: string): MadeFile | undefined;
}

/** A sibling on its way: its bytes are in a temporary file once `finish` has returned. */
export interface EncodedSibling {
  encoding: Encoding;
  temporary: string;
  /** Files with the same bytes share the temporary file. */
  isShared: boolean;
}

/** Moves a finished sibling into its place. */
export function placeEncoded(
  folder: string,
  path: string,
  { encoding, temporary, isShared }: EncodedSibling,
) {
  const own = isShared ? `${temporary}-copy` : temporary;
  if (isShared) copyFileSync(temporary, own, copying.COPYFILE_FICLONE);
  placeSibling(folder, path, encoding, own);
}

/** Compresses files in libuv's pool while the caller renders others. */
export interface Encoder {
  /** Begins the siblings that a file needs. @param file where its bytes are */
  encode(
    source: { sha256: string; size: number },
    file: string,
    encodings: Iterable<Encoding>,
  ): EncodedSibling[];
  /** Waits until another file may begin. */
  room(): Promise<void>;
  /** Waits for all. @throws RelcatError file-access */
  finish(): Promise<void>;
  /** Waits for all, whatever becomes of them. */
  stop(): Promise<void>;
}

/** @param work a folder for the compressed files, in the same file system as the site */
export function encoder(work: string): Encoder {
  const inProgress = new Set<Promise<void>>();
  const failures: unknown[] = [];
  // The list has several addresses; its bytes are compressed once.
  const large = new Map<string, string>();
  let count = 0;
  const begin = (file: string, size: number, encoding: Encoding): string => {
    const temporary = join(work, `encoded-${count++}`);
    const done = encodeFile(file, temporary, encoding, size)
      .catch((error: unknown) => {
        failures.push(accessFailure(`cannot compress ${file}`, error));
      })
      .finally(() => inProgress.delete(done));
    inProgress.add(done);
    return temporary;
  };
  return {
    encode: ({ sha256, size }, file, encodings) =>
      Array.from(encodings, (encoding) => {
        const name = `${encoding} ${sha256}`;
        const temporary = large.get(name) ?? begin(file, size, encoding);
        const isShared = size > little;
        if (isShared) large.set(name, temporary);
        return { encoding, temporary, isShared };
      }),
    async room() {
      while (inProgress.size > mostInProgress) await Promise.race(inProgress);
    },
    async finish() {
      await Promise.all(inProgress);
      if (failures.length > 0) throw failures[0];
    },
    async stop() {
      await Promise.allSettled(inProgress);
    },
  };
}

/** The siblings of a file of the site that must be made. @param untouched those that no one changed since they were made */
export const missingSiblings = (
  folder: string,
  { path, size }: { path: string; size: number },
  encodings: Iterable<Encoding>,
  untouched: (path: string) => MadeFile | undefined,
): Encoding[] =>
  [...encodings].filter((encoding) => {
    if (!hasTimeOf(folder, path, encoding)) return true;
    return !untouched(`${path}.${encoding}`) && !decodesTo(folder, path, encoding, size);
  });

/** Removes the siblings of a file in encodings that are no longer configured. */
export function removeUnwanted(folder: string, path: string, wanted: ReadonlySet<Encoding>): void {
  for (const encoding of allEncodings) if (!wanted.has(encoding)) removeSibling(folder, path, encoding);
}
