/** Paths of the search page and its index, relative to the site's root. */
export const searchPaths = {
  page: "search/index.html",
  index: "search/index.json",
  /** @param part a month, `26.08`, or a part of it, `26.08-2` */
  notes: (part: string) => `search/notes/${part}.json`,
  /** @param prefix first digits of the checksums; empty: all are in one file */
  hashes: (prefix: string) => `search/hash/${prefix || "all"}.json`,
};
