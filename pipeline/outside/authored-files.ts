import { listFiles, readFiles, readIfPresent } from "./files.ts";

/** Where a catalog's authored files are read from. */
export interface AuthoredFiles {
  /** Paths relative to the releases folder, sorted by code unit. */
  list(): Promise<string[]>;
  /** The bytes of one file, undefined when there is none. */
  read(path: string): Uint8Array | undefined;
  /** The bytes of many, in the order of the paths. */
  readAll(paths: readonly string[]): Promise<Uint8Array[]>;
}

/** The files as they lie in a folder. */
export const filesIn = (folder: string): AuthoredFiles => ({
  list: () => listFiles(folder),
  read: (path) => readIfPresent(`${folder}/${path}`),
  readAll: (paths) => readFiles(paths.map((path) => `${folder}/${path}`)),
});

/** The files of a tree that was read already. */
export const filesOf = (tree: ReadonlyMap<string, Uint8Array>): AuthoredFiles => ({
  list: async () => [...tree.keys()].sort(),
  read: (path) => tree.get(path),
  readAll: async (paths) => paths.map((path) => tree.get(path) ?? new Uint8Array()),
});
