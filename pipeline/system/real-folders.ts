import { lstatSync, mkdirSync, rmSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";

/** The folders below a site's folder: none of them may be a link, which would lead writes outside. */
export interface RealFolders {
  /** Whether all folders above a file exist and none is a link. */
  holds(path: string): boolean;
  /**
   * Makes the folders above a file. A link in the place of one is removed; its target is left alone.
   * @returns whether the file's own folder is new
   */
  make(path: string): boolean;
}

/** Looks once at each folder that holds folders, and at the others once for files that follow each other. */
export function realFolders(root: string): RealFolders {
  const parents = new Set<string>(["."]);
  let last = ".";
  const isKnown = (folder: string) => folder === last || parents.has(folder);
  const look = (folder: string): Stats | undefined =>
    lstatSync(join(root, folder), { throwIfNoEntry: false });

  const holds = (folder: string): boolean => {
    if (isKnown(folder)) return true;
    const parent = dirname(folder);
    if (!holds(parent)) return false;
    parents.add(parent);
    if (!look(folder)?.isDirectory()) return false;
    last = folder;
    return true;
  };
  const make = (folder: string): boolean => {
    if (isKnown(folder)) return false;
    const parent = dirname(folder);
    make(parent);
    parents.add(parent);
    const found = look(folder);
    last = folder;
    if (found?.isDirectory()) return false;
    const place = join(root, folder);
    if (found?.isSymbolicLink()) rmSync(place);
    mkdirSync(place);
    return true;
  };
  return { holds: (path) => holds(dirname(path)), make: (path) => make(dirname(path)) };
}
