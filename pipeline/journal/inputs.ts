import { lstatSync, readdirSync } from "node:fs";
import { digestOf } from "../system/files.ts";
import { isRecent, isSameStatData, type StatData, statDataOf } from "./file-stats.ts";

export interface InputFile {
  name: string;
  statData: StatData;
  /** null: the digest was not needed. */
  sha256: string | null;
}

/** Included even without files, because an empty folder may be an error. */
export interface InputFolder {
  path: string;
  files: InputFile[];
}

/** All inputs of a build, as they were before it began. */
export interface Inputs {
  /** Milliseconds since 1970. */
  recordedAt: number;
  folders: InputFolder[];
}

/**
 * @param recordedAt a time before the first file is inspected, so that later changes have a later time
 * @returns undefined if there is a link, because the files behind it are not inspected, or a special file
 */
export function scanInputs(paths: readonly string[], recordedAt: number): Inputs | undefined {
  const folders: InputFolder[] = [];
  if (!paths.every((path) => scanFolder(path, folders))) return undefined;
  for (const { path, files } of folders)
    for (const file of files) {
      // Hashed now, because the file may change again before the build reads it.
      // biome-ignore lint/plugin: names from listing the folder.
      if (isRecent(file.statData, recordedAt)) file.sha256 = digestOf(`${path}/${file.name}`).sha256;
    }
  return { recordedAt, folders };
}

/** Skips hidden files. @returns false if there is a link, a pipe, a socket or a device */
function scanFolder(path: string, folders: InputFolder[]): boolean {
  const files: InputFile[] = [];
  folders.push({ path, files });
  for (const name of readdirSync(path).sort()) {
    if (name.startsWith(".")) continue;
    const below = `${path}/${name}`;
    const stat = lstatSync(below, { throwIfNoEntry: false });
    if (stat?.isDirectory()) {
      if (!scanFolder(below, folders)) return false;
    } else if (stat && !stat.isFile()) return false;
    else if (stat) files.push({ name, statData: statDataOf(stat), sha256: null });
  }
  return true;
}

/** Hashes a file that may have changed since an earlier build without a change of its stat data. */
export function areUnchanged(now: Inputs, before: Inputs): boolean {
  if (now.folders.length !== before.folders.length) return false;
  return now.folders.every(({ path, files }, index) => {
    const old = before.folders[index];
    if (old?.path !== path || old.files.length !== files.length) return false;
    return files.every((file, at) => {
      const was = old.files[at];
      if (was?.name !== file.name || !isSameStatData(file.statData, was.statData)) return false;
      if (!isRecent(file.statData, before.recordedAt)) return true;
      // biome-ignore lint/plugin: a file that scanInputs found.
      return (file.sha256 ?? digestOf(`${path}/${file.name}`).sha256) === was.sha256;
    });
  });
}

/** Takes over the digests of files that have not changed since an earlier build. */
export function takeDigests(now: Inputs, before: Inputs): void {
  const earlier = inputFinder(before);
  for (const { path, files } of now.folders)
    for (const file of files) {
      const was = earlier(`${path}/${file.name}`);
      if (
        was?.sha256 &&
        isSameStatData(file.statData, was.statData) &&
        !isRecent(was.statData, before.recordedAt)
      )
        file.sha256 = was.sha256;
    }
}

/** Finds files by their path, fastest if those of a folder are asked for one after another. */
export function inputFinder({ folders }: Inputs): (path: string) => InputFile | undefined {
  const byPath = new Map(folders.map(({ path, files }) => [path, files]));
  let current: { path: string; byName: ReadonlyMap<string, InputFile> } | undefined;
  return (path) => {
    const slash = path.lastIndexOf("/");
    const folder = path.slice(0, slash);
    if (current?.path !== folder)
      current = { path: folder, byName: new Map(byPath.get(folder)?.map((file) => [file.name, file])) };
    return current.byName.get(path.slice(slash + 1));
  };
}
