import { existsSync, lstatSync, mkdirSync, realpathSync, rmSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/**
 * Folders below a site's folder. None may be a link, because that would redirect writes outside. Checks are cached: of
 * inner folders permanently, of others while consecutive files share them.
 */
export function realFolders(root: string) {
  const parents = new Set<string>(["."]);
  let last = ".";
  const isKnown = (folder: string) => folder === last || parents.has(folder);
  const statOf = (folder: string): Stats | undefined =>
    lstatSync(join(root, folder), { throwIfNoEntry: false });

  const holds = (folder: string): boolean => {
    if (isKnown(folder)) return true;
    const parent = dirname(folder);
    if (!holds(parent)) return false;
    parents.add(parent);
    if (!statOf(folder)?.isDirectory()) return false;
    last = folder;
    return true;
  };
  const make = (folder: string): boolean => {
    if (isKnown(folder)) return false;
    const parent = dirname(folder);
    make(parent);
    parents.add(parent);
    const found = statOf(folder);
    last = folder;
    if (found?.isDirectory()) return false;
    const place = join(root, folder);
    if (found?.isSymbolicLink()) rmSync(place);
    mkdirSync(place);
    return true;
  };
  return {
    /** True if all parent folders exist and none is a link. */
    holds: (path: string) => holds(dirname(path)),
    /** Creates the parent folders; a link in place of one is removed. @returns whether the file's own folder is new */
    make: (path: string) => make(dirname(path)),
  };
}

/** Resolves links as far as the path exists; no trailing slash, so the root is empty. */
export function realPlace(path: string): string {
  const whole = resolve(path);
  if (existsSync(whole)) return realpathSync(whole).replace(/\/$/, "");
  return `${realPlace(dirname(whole))}/${basename(whole)}`;
}
