import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Lets everyone read a published file or folder if neither its group nor others may: a web server usually runs as
 * another user. Modes that a group can read, such as those of the umask 027, stay as they are.
 */
export function makeReadable(path: string): void {
  const stats = statSync(path);
  const bits = stats.isDirectory() ? 0o055 : 0o044;
  if ((stats.mode & bits) !== 0) return;
  try {
    chmodSync(path, (stats.mode & 0o7777) | bits);
  } catch (error) {
    // Without modes, the mount decides who can read; the owner decides about another user's artifact.
    if (!["EPERM", "ENOTSUP", "ENOSYS"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

/** As makeReadable, for a folder and everything in it; links are not followed. */
export function makeAllReadable(folder: string): void {
  makeReadable(folder);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    // biome-ignore lint/plugin: a name from listing the folder.
    makeReadable(join(entry.parentPath, entry.name));
  }
}

/** Folders between a site and a file in it. The site's own folder may be closed on purpose, except by the umask. */
export function makeWayReadable(site: string, folders: readonly string[]): void {
  if ((process.umask() & 0o055) === 0o055) makeReadable(site);
  for (const folder of folders) makeReadable(folder);
}
