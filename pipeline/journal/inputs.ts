import { readdirSync, statSync } from "node:fs";
import { digestOf } from "../system/files.ts";
import { isRecent, isSameLook, type Look, lookOf } from "./file-stats.ts";

/** A file that a build may read; or a folder, whose path ends with a slash: an empty one may be a fault. */
export interface Input {
  path: string;
  look: Look;
  /** Null if it was not needed. */
  sha256: string | null;
}

/** All inputs of a build, as they looked before it began. */
export interface Inputs {
  /** Milliseconds since 1970. */
  taken: number;
  rows: Input[];
}

const folderLook: Look = [0, 0, 0, 0];

/**
 * @param taken from before anything is looked at: files that change later have a later time
 * @returns undefined where there is a link: the files behind it are not looked at
 */
export function lookAtInputs(folders: readonly string[], taken: number): Inputs | undefined {
  const rows: Input[] = [];
  if (!folders.every((folder) => lookBelow(folder, rows))) return undefined;
  for (const row of rows) {
    // Bytes that change between this and the build are not those that were built.
    if (!isFolder(row) && isRecent(row.look, taken)) row.sha256 = digestOf(row.path).sha256;
  }
  return { taken, rows };
}

const isFolder = ({ path }: Input): boolean => path.endsWith("/");

/** Hidden files are left out. @returns false where there is a link */
function lookBelow(folder: string, rows: Input[]): boolean {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."));
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (entry.isSymbolicLink()) return false;
    if (entry.isDirectory()) {
      rows.push({ path: `${path}/`, look: folderLook, sha256: null });
      if (!lookBelow(path, rows)) return false;
      continue;
    }
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat) rows.push({ path, look: lookOf(stat), sha256: null });
  }
  return true;
}

/** Whether the inputs are those of an earlier build; what may have changed without showing it is hashed. */
export function areUnchanged(now: Inputs, before: Inputs): boolean {
  if (now.rows.length !== before.rows.length) return false;
  return now.rows.every((row, index) => {
    const old = before.rows[index] as Input;
    if (row.path !== old.path || !isSameLook(row.look, old.look)) return false;
    if (isFolder(row) || !isRecent(row.look, before.taken)) return true;
    return (row.sha256 ?? digestOf(row.path).sha256) === old.sha256;
  });
}

/** Digests of the files that did not change since an earlier build, by path. */
export function knownDigests(now: Inputs, before: Inputs | undefined): Map<string, string> {
  const old = new Map(before?.rows.map((row) => [row.path, row]));
  const known = new Map<string, string>();
  for (const { path, look } of now.rows) {
    const row = old.get(path);
    if (!row?.sha256 || !before || !isSameLook(look, row.look) || isRecent(look, before.taken)) continue;
    known.set(path, row.sha256);
  }
  return known;
}
