import { exists, inProject, readIfPresent, readPresent, refuseForeignLink } from "../system/files.ts";
import { listFiles, listFolders } from "../system/folders.ts";

/** Source of a catalog's authored files: a folder or a git tree. */
export interface AuthoredFiles {
  /** Paths relative to the releases folder, sorted by code unit. */
  list(): Promise<string[]>;
  /** Names of direct subfolders, including empty ones. */
  folders(): string[];
  /** undefined: the file does not exist. */
  read(path: string): Uint8Array | undefined;
  /** Contents in the order of the paths. */
  readAll(paths: readonly string[]): Promise<Uint8Array[]>;
}

export const filesIn = (folder: string): AuthoredFiles => ({
  list: async () => (exists(folder) ? listFiles(folder, inProject(folder)) : []),
  folders: () => (exists(folder) ? listFolders(folder) : []),
  read(path) {
    refuseForeignLink(folder, path);
    // biome-ignore lint/plugin: the line above refuses links that lead elsewhere.
    return readIfPresent(`${folder}/${path}`);
  },
  // Sequential: for small cached files this is several times faster than parallel reading.
  // biome-ignore lint/plugin: paths from listing the folder, with links checked.
  readAll: async (paths) => paths.map((path) => readPresent(`${folder}/${path}`)),
});

export const filesOf = (tree: ReadonlyMap<string, Uint8Array>): AuthoredFiles => ({
  list: async () => [...tree.keys()].sort(),
  folders: () => [], // git does not store empty folders
  read: (path) => tree.get(path),
  readAll: async (paths) => paths.map((path) => tree.get(path) ?? new Uint8Array()),
});
