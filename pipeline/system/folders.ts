import { accessSync, constants, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { accessFailure } from "./access-failure.ts";
import { exists } from "./files.ts";

/** Names of direct subfolders, including empty ones. */
export function listFolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch (error) {
    throw accessFailure(`cannot read ${folder}`, error);
  }
}

/** Renames a file and creates its target folder. */
export function moveFile(from: string, to: string): void {
  try {
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  } catch (error) {
    throw accessFailure(`cannot move ${from} to ${to}`, error);
  }
}

/** Writes to a path from the user, which may be a device or pipe such as /dev/stdout. */
export function writeText(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (error) {
    throw accessFailure(`cannot write ${path}`, error);
  }
}

/**
 * Checks that a report can be written before the reported work starts.
 * @throws RelcatError file-access
 */
export function requireTarget(path: string): void {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    const nearest = stats ? path : nearestAbove(path);
    if (!stats && !isFolder(nearest)) throw Object.assign(new Error(), { code: "ENOTDIR" });
    accessSync(nearest, constants.W_OK);
  } catch (error) {
    throw accessFailure(`cannot write ${path}`, error);
  }
}

function nearestAbove(path: string): string {
  const above = dirname(path);
  return exists(above) || above === path ? above : nearestAbove(above);
}

export const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
