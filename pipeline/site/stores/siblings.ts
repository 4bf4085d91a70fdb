import { lstatSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { feedPath } from "../../documents/feeds/paths.ts";
import { type Encoding, encodings } from "../../documents/hosting.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { compressFile, decompressors, singleCallLimit } from "./compressors.ts";

/** Encodings that a file may have siblings in. Package feeds have none: their `Packages.gz` is content of the site. */
export const siblingEncodings = (path: string): readonly Encoding[] => (feedPath(path) ? [] : encodings);

/**
 * @param temporary a path on the same file system as the site
 * @throws RelcatError file-access
 */
export async function writeSibling(
  folder: string,
  temporary: string,
  { path, encoding }: { path: string; encoding: Encoding },
): Promise<void> {
  const file = join(folder, path);
  await compressFile(file, temporary, encoding).catch((error: unknown) => {
    throw accessFailure(`cannot write ${file}.${encoding}`, error);
  });
  placeSibling(folder, path, encoding, temporary);
}

/** A sibling is whole and has the time of its file, or it does not exist. @param temporary on the same file system */
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

/** Servers derive validators from the times of a sibling and its source, so both must agree. */
export function hasTimeOf(folder: string, path: string, encoding: Encoding): boolean {
  const file = join(folder, path);
  const sibling = lstatSync(`${file}.${encoding}`, { throwIfNoEntry: false });
  return sibling?.isFile() === true && sibling.mtimeMs === statSync(file).mtimeMs;
}

/** False for a large one, because decoding it takes as long as making it again. @param size of the source in bytes */
export function decodesTo(folder: string, path: string, encoding: Encoding, size: number): boolean {
  if (size > singleCallLimit) return false;
  const file = join(folder, path);
  return isSiblingOf(readFileSync(`${file}.${encoding}`), encoding, readFileSync(file));
}

/** True if a compressed file decodes to these bytes. Decoding stops if the result becomes longer. */
export function isSiblingOf(compressed: Uint8Array, encoding: Encoding, bytes: Uint8Array): boolean {
  try {
    return decompressors[encoding](compressed, Math.max(1, bytes.length)).equals(bytes);
  } catch {
    return false; // Not compressed, incomplete, or longer than the file.
  }
}

/** Called before the file changes or is removed, because a stale sibling would be served. */
export function removeSiblings(folder: string, path: string, wanted?: ReadonlySet<Encoding>): void {
  for (const encoding of siblingEncodings(path)) {
    const sibling = `${join(folder, path)}.${encoding}`;
    if (!wanted?.has(encoding) && lstatSync(sibling, { throwIfNoEntry: false }))
      rmSync(sibling, { force: true });
  }
}
