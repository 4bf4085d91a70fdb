import { exists, listFiles, readIfPresent, readPresent } from "../system/files.ts";
import { listFolders } from "../system/folders.ts";
import { inProject, refuseForeignLink } from "../system/project-links.ts";

/** Where a catalog's authored files are read from. */
export interface AuthoredFiles {
  /** Paths relative to the releases folder, sorted by code unit. */
  list(): Promise<string[]>;
  /** Names of the folders right below, also those without a file in them. */
  folders(): string[];
  /** The bytes of one file, undefined when there is none. */
  read(path: string): Uint8Array | undefined;
  /** The bytes of many, in the order of the paths. */
  readAll(paths: readonly string[]): Promise<Uint8Array[]>;
}

/** The files as they lie in a folder. */
export const filesIn = (folder: string): AuthoredFiles => ({
  list: async () => (exists(folder) ? listFiles(folder, inProject(folder)) : []),
  folders: () => (exists(folder) ? listFolders(folder) : []),
  read(path) {
    refuseForeignLink(folder, path);
    // biome-ignore lint/plugin: the line above refuses links that lead elsewhere.
    return readIfPresent(`${folder}/${path}`);
  },
  // One after the other: small files in memory are read several times faster so than many at once.
  // biome-ignore lint/plugin: paths that listing the folder found, links checked.
  readAll: async (paths) => paths.map((path) => readPresent(`${folder}/${path}`)),
});

/** The files of a tree that was read already. */
export const filesOf = (tree: ReadonlyMap<string, Uint8Array>): AuthoredFiles => ({
  list: async () => [...tree.keys()].sort(),
  folders: () => [], // git keeps none without files
  read: (path) => tree.get(path),
  readAll: async (paths) => paths.map((path) => tree.get(path) ?? new Uint8Array()),
});
