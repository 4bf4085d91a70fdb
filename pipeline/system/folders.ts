import { accessSync, constants, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { accessFailure } from "./access-failure.ts";
import { exists } from "./files.ts";

/** Names of the folders directly in a folder, empty ones included. */
export function listFolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch (error) {
    throw accessFailure(`cannot read ${folder}`, error);
  }
}

/** Moves a file in one step; the folder it goes to is made. */
export function moveFile(from: string, to: string): void {
  try {
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  } catch (error) {
    throw accessFailure(`cannot move ${from} to ${to}`, error);
  }
}

/** Writes a text people asked for by file name; devices and pipes such as /dev/stdout may stand there too. */
export function writeText(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (error) {
    throw accessFailure(`cannot write ${path}`, error);
  }
}

/**
 * Proves that a file can be written, before anything is done whose account goes into it.
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
