import { lstatSync, readdirSync } from "node:fs";
import { digestOf } from "../system/files.ts";
import { isRecent, isSameStatData, type StatData, statDataOf } from "./file-stats.ts";

/**
 * A file that a build may read. A folder has a path that ends with a slash; folders are included, because an
 * empty one may be an error.
 */
export interface Input {
  path: string;
  statData: StatData;
  /** null: the digest was not needed. */
  sha256: string | null;
}

/** All inputs of a build, as they were before it began. */
export interface Inputs {
  /** Milliseconds since 1970. */
  recordedAt: number;
  rows: Input[];
}

const folderStatData: StatData = [0, 0, 0, 0];

/**
 * @param recordedAt a time before the first file is inspected, so that later changes have a later time
 * @returns undefined if there is a link, because the files behind it are not inspected, or a special file
 */
export function scanInputs(folders: readonly string[], recordedAt: number): Inputs | undefined {
  const rows: Input[] = [];
  if (!folders.every((folder) => scanFolder(folder, rows))) return undefined;
  for (const row of rows) {
    // Hashed now, because the file may change again before the build reads it.
    if (!isFolder(row) && isRecent(row.statData, recordedAt)) row.sha256 = digestOf(row.path).sha256;
  }
  return { recordedAt, rows };
}

const isFolder = ({ path }: Input): boolean => path.endsWith("/");

/** Skips hidden files. @returns false if there is a link, a pipe, a socket or a device */
function scanFolder(folder: string, rows: Input[]): boolean {
  for (const name of readdirSync(folder).sort()) {
    if (name.startsWith(".")) continue;
    const path = `${folder}/${name}`;
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) {
      rows.push({ path: `${path}/`, statData: folderStatData, sha256: null });
      if (!scanFolder(path, rows)) return false;
    } else if (stat && !stat.isFile()) return false;
    else if (stat) rows.push({ path, statData: statDataOf(stat), sha256: null });
  }
  return true;
}

/**
 * Compares with the inputs of an earlier build. A file that may have changed without a change of its stat data is
 * hashed.
 */
export function areUnchanged(now: Inputs, before: Inputs): boolean {
  if (now.rows.length !== before.rows.length) return false;
  return now.rows.every((row, index) => {
    const old = before.rows[index] as Input;
    if (row.path !== old.path || !isSameStatData(row.statData, old.statData)) return false;
    if (isFolder(row) || !isRecent(row.statData, before.recordedAt)) return true;
    return (row.sha256 ?? digestOf(row.path).sha256) === old.sha256;
  });
}

/** Digests of files that have not changed since an earlier build, by path. */
export function knownDigests(now: Inputs, before: Inputs | undefined): Map<string, string> {
  const old = new Map(before?.rows.map((row) => [row.path, row]));
  const known = new Map<string, string>();
  for (const { path, statData } of now.rows) {
    const row = old.get(path);
    if (
      !row?.sha256 ||
      !before ||
      !isSameStatData(statData, row.statData) ||
      isRecent(statData, before.recordedAt)
    )
      continue;
    known.set(path, row.sha256);
  }
  return known;
}
