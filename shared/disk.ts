import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from "node:fs";

/** fsync of a file, or of a folder's entries. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Codes of a refused hard link: the file system has none (SMB, FUSE, exFAT), the files are on two devices, the file
 * has too many, or it belongs to another user.
 */
const linkRefusals = new Set(["EPERM", "ENOTSUP", "ENOSYS", "EXDEV", "EMLINK"]);

export const isLinkRefused = (error: unknown) =>
  linkRefusals.has((error as NodeJS.ErrnoException).code ?? "");

/** Renames a file of the same folder, and never replaces another, unlike a rename. @throws EEXIST */
export function renameToFree(from: string, to: string): void {
  try {
    linkSync(from, to);
    rmSync(from);
  } catch (error) {
    if (!isLinkRefused(error)) throw error;
    closeSync(openSync(to, "wx")); // reserves the name, and fails if it is taken
    renameSync(from, to);
  }
}
