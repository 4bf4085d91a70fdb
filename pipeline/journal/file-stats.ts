import { lstatSync, type Stats } from "node:fs";

/** The values that change whenever a file's bytes or a folder's entries do: size, times and inode. */
export type Look = readonly [size: number, modified: number, changed: number, inode: number];

export const lookOf = ({ size, mtimeMs, ctimeMs, ino }: Stats): Look => [size, mtimeMs, ctimeMs, ino];

/** One of many, that stand one after another. */
export function lookIn(looks: Float64Array, row: number): Look {
  const number = (column: number) => looks[4 * row + column] ?? 0;
  return [number(0), number(1), number(2), number(3)];
}

export const isSameLook = (a: Look, b: Look): boolean => a.every((number, column) => number === b[column]);

/** The look of a file that does not exist: equal to no other. */
export const noLook: Look = [0, 0, 0, 0];

/** @returns undefined when there is no such file, or it is a link */
export function lookAt(path: string): Look | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat && !stat.isSymbolicLink() ? lookOf(stat) : undefined;
}

/**
 * Whether a file may have changed after it was looked at without that showing: clocks of file systems tick, so
 * what changed shortly before `taken` may have changed again in the same tick (as in git's index).
 * @param taken milliseconds since 1970
 */
export const isRecent = ([size, modified, changed, inode]: Look, taken: number): boolean =>
  isRecentlyChanged([size, modified, Math.max(modified, changed), inode], taken);

/** The same for files whose modification time is set by relcat, which may be in the future. */
export const isRecentlyChanged = ([, , changed]: Look, taken: number): boolean => changed > taken - 2000;
