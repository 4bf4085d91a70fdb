import { lstatSync, readdirSync, type Stats, statSync } from "node:fs";

/** What changes whenever a file's bytes do: its size, times and inode, as text. */
export type FileState = string;

// Joined, for V8 keeps what a template makes as the seven strings it was made of.
const stateOf = ({ size, mtimeMs, ctimeMs, ino }: Stats): FileState =>
  [size, mtimeMs, ctimeMs, ino].join(" ");

/** @returns undefined when there is no such file, or it is a link */
export function fileState(path: string): FileState | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat && !stat.isSymbolicLink() ? stateOf(stat) : undefined;
}

/**
 * Whether a file may have changed after its state was taken without that showing: clocks of file systems tick, so
 * what changed shortly before `taken` may have changed again in the same tick (as in git's index).
 * @param taken milliseconds since 1970
 */
export function isRacy(state: FileState, taken: number): boolean {
  const [, modified, changed] = state.split(" ").map(Number);
  return Math.max(modified ?? 0, changed ?? 0) > taken - 2000;
}

/**
 * The state of every file below a folder, in an order that is always the same, hidden ones left out.
 * @returns undefined where links lead elsewhere: what they lead to is not looked at
 */
export function statesBelow(
  folder: string,
  into = new Map<string, FileState>(),
): Map<string, FileState> | undefined {
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith(".")) continue;
    const path = `${folder}/${entry.name}`;
    if (entry.isSymbolicLink()) return undefined;
    if (entry.isDirectory()) {
      // Folders count too: an empty one may be a fault.
      into.set(`${path}/`, "");
      if (!statesBelow(path, into)) return undefined;
    } else {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat) into.set(path, stateOf(stat));
    }
  }
  return into;
}
