import { lastNotGreater } from "../selection/binary-search.ts";

/** Which row of a table is whose: the folders and files of listings, one after another. */
export interface InputRows {
  /** The row of a file; undefined when it was not there. */
  of(path: string): number | undefined;
}

/**
 * Looks names up in their folder's listing: a map of all paths would take ten times as much.
 * @param listings as `Inputs` has them
 */
export function inputRows(listings: string): InputRows {
  const folders = new Map<string, { listing: string; row: number }>();
  let row = 0;
  for (const listing of listings.split("\0\0")) {
    const { folder, files } = opened(listing);
    folders.set(folder, { listing, row });
    row += 1 + files.length;
  }
  // Who asks for a file asks for its neighbours next.
  let last: { folder: string; files: readonly string[]; row: number } | undefined;
  return {
    of(path) {
      const slash = path.lastIndexOf("/");
      const folder = path.slice(0, slash);
      if (last?.folder !== folder) {
        const found = folders.get(folder);
        if (!found) return undefined;
        last = { folder, files: opened(found.listing).files, row: found.row };
      }
      const index = placeIn(last.files, path.slice(slash + 1));
      return index === undefined ? undefined : last.row + 1 + index;
    },
  };
}

function opened(listing: string): { folder: string; files: readonly string[] } {
  const [folder = "", ...names] = listing.split("\0");
  return { folder, files: names.filter((name) => !name.endsWith("/")) };
}

/** @param sorted by code unit */
function placeIn(sorted: readonly string[], name: string): number | undefined {
  const index = lastNotGreater(sorted.length, (row) => sorted[row] as string, name);
  return sorted[index] === name ? index : undefined;
}
