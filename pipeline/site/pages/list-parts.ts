import { lineOf } from "../../../shared/version.ts";
import type { PagePieces } from "./page-pieces.ts";

/** How many rows a page has: at most about 100 KB of HTML. */
export interface PageSize {
  most: number;
  /** Whether a release that fits on one page is kept whole. */
  keepsReleases: boolean;
}

export const downloadRows: PageSize = { most: 100, keepsReleases: true };
export const browsableRows: PageSize = { most: 30, keepsReleases: false };

/** Rows of a release on one page: from `from` to `to`, exclusive. */
export interface ReleaseSlice {
  release: PagePieces;
  from: number;
  to: number;
}

export interface ListPart {
  /** Title: `26.08`, or `26.08, part 2`. */
  label: string;
  /** Path below `page/`: `26.08/`, or `26.08/2/`. */
  folder: string;
  /** Newest first. */
  slices: readonly ReleaseSlice[];
}

/**
 * A month with many records has parts, numbered from the oldest, so that new releases do not change them; the newest
 * has the month's address.
 * @param pieces newest first
 */
export function listParts(pieces: readonly PagePieces[], size: PageSize): ListPart[] {
  const months = Map.groupBy(pieces, ({ version }) => lineOf(version));
  return [...months].flatMap(([month, releases]) => {
    const parts = filled(releases.toReversed(), size);
    return parts
      .map((slices, index) => {
        const number = index + 1;
        const newest = number === parts.length;
        return {
          label: parts.length === 1 ? month : `${month}, part ${number}`,
          folder: newest ? `${month}/` : `${month}/${number}/`,
          slices: slices.toReversed(),
        };
      })
      .reverse();
  });
}

/** Oldest first, also within a release. */
function filled(releases: readonly PagePieces[], { most, keepsReleases }: PageSize): ReleaseSlice[][] {
  const parts: ReleaseSlice[][] = [];
  let room = 0;
  const begin = () => {
    parts.push([]);
    room = most;
  };
  for (const release of releases) {
    let to = release.packages.length;
    if (room <= 0 || (keepsReleases && to > room)) begin();
    while (to > room) {
      parts.at(-1)?.push({ release, from: to - room, to });
      to -= room;
      begin();
    }
    parts.at(-1)?.push({ release, from: 0, to });
    room -= Math.max(to, 1);
  }
  return parts;
}
