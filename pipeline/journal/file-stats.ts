import { lstatSync, type Stats } from "node:fs";

/** The values that change whenever a file's bytes or a folder's entries do. */
export type Look = readonly [size: number, modified: number, changed: number, inode: number];

export const lookOf = ({ size, mtimeMs, ctimeMs, ino }: Stats): Look => [size, mtimeMs, ctimeMs, ino];

export const isSameLook = (a: Look, b: Look): boolean =>
  a[0] === b[0] && a[1] === b[1] && a[2] === b[2] && a[3] === b[3];

/** The look of a file that does not exist: equal to no other. */
export const noLook: Look = [0, 0, 0, 0];

/** @returns undefined when there is no such file, or it is a link */
export function lookAt(path: string): Look | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat && !stat.isSymbolicLink() ? lookOf(stat) : undefined;
}

/**
 * Whether a file may have changed after its look was taken without showing it: clocks of file systems tick, so a
 * file that changed shortly before `taken` may have changed again in the same tick (as in git's index).
 * @param taken milliseconds since 1970
 */
export const isRecent = ([, modified, changed]: Look, taken: number): boolean =>
  Math.max(modified, changed) > taken - 2000;

/** The same for files whose modification time is set by relcat, which may be in the future. */
export const isRecentlyChanged = ([, , changed]: Look, taken: number): boolean => changed > taken - 2000;

/** A file that a build made. */
export interface MadeFile {
  path: string;
  sha256: string;
  size: number;
  /** Taken right after the file was put into its place. */
  look: Look;
}

/** Files that are made from the same things. */
export interface MadeGroup {
  name: string;
  /** Digest of everything that they are made from. */
  key: string;
  files: readonly MadeFile[];
}
