import { lstatSync, type Stats } from "node:fs";

/** What changes whenever a file's bytes do, or a folder's entries: size, times and inode. */
export type Look = readonly [size: number, modified: number, changed: number, inode: number];

export const lookOf = ({ size, mtimeMs, ctimeMs, ino }: Stats): Look => [size, mtimeMs, ctimeMs, ino];

/** A look as text: what changes whenever a file's bytes do. */
export type FileState = string;

// Joined, for V8 keeps what a template makes as the seven strings it was made of.
export const stateOf = (look: Look): FileState => look.join(" ");

/** @returns undefined when there is no such file, or it is a link */
export function fileState(path: string): FileState | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat && !stat.isSymbolicLink() ? stateOf(lookOf(stat)) : undefined;
}

/**
 * Whether a file may have changed after it was looked at without that showing: clocks of file systems tick, so
 * what changed shortly before `taken` may have changed again in the same tick (as in git's index).
 * @param taken milliseconds since 1970
 */
export const isRecent = ([, modified, changed]: Look, taken: number): boolean =>
  Math.max(modified, changed) > taken - 2000;

/** The same of a look as text. */
export function isRacy(state: FileState, taken: number): boolean {
  const [, modified = 0, changed = 0] = state.split(" ").map(Number);
  return isRecent([0, modified, changed, 0], taken);
}
