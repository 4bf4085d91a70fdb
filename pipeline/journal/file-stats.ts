import { lstatSync, type Stats } from "node:fs";

/** Values that change if a file's bytes or a folder's entries change. */
export type StatData = readonly [size: number, modified: number, changed: number, inode: number];

export const statDataOf = ({ size, mtimeMs, ctimeMs, ino }: Stats): StatData => [size, mtimeMs, ctimeMs, ino];

export const isSameStatData = (a: StatData, b: StatData): boolean =>
  a[0] === b[0] && a[1] === b[1] && a[2] === b[2] && a[3] === b[3];

export const hasSameTime = ([, a]: StatData, [, b]: StatData): boolean => a === b;

/** Stat data of a missing file; no existing file has them. */
export const noStatData: StatData = [0, 0, 0, 0];

/** @returns undefined if the file does not exist or is a link */
export function readStatData(path: string): StatData | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat && !stat.isSymbolicLink() ? statDataOf(stat) : undefined;
}

/**
 * True if the file may have changed without a change of its stat data, because clocks of file systems tick: it may have
 * changed again within the tick (git's index has the same problem). @param recordedAt milliseconds since 1970
 */
export const isRecent = ([, modified, changed]: StatData, recordedAt: number): boolean =>
  Math.max(modified, changed) > recordedAt - settlingTime(changed);

/** Ignores the modification time, which relcat sets itself and which may be in the future. */
export const isRecentlyChanged = ([, , changed]: StatData, recordedAt: number): boolean =>
  changed > recordedAt - settlingTime(changed);

/** In milliseconds: the coarsest clocks tick every two seconds, and the others at least every ten milliseconds. */
const settlingTime = (changed: number): number => (changed % 1000 === 0 ? 2000 : 50);

export interface MadeFile {
  path: string;
  sha256: string;
  size: number;
  /** Taken right after the file was moved into place. */
  statData: StatData;
}

/** Files that are generated from the same input. */
export interface MadeGroup {
  name: string;
  /** Digest of everything that they are generated from. */
  key: string;
  files: readonly MadeFile[];
  /** Their compressed siblings. */
  siblings: readonly MadeFile[];
}
