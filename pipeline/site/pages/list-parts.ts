import type { PagePieces } from "./page-pieces.ts";

/** Records per page; JSON answers are never paginated. */
export const mostRecords = 500;

/** Rows of a release on one page: from `from` to `to`, exclusive. */
export interface ReleaseSlice {
  release: PagePieces;
  from: number;
  to: number;
}

/** One page of a version month. */
export interface ListPart {
  /** Title: `26.08`, or `26.08, part 2`. */
  label: string;
  /** Path below `page/`: `26.08/`, or `26.08/2/`. */
  folder: string;
  /** Newest first. */
  slices: readonly ReleaseSlice[];
}

/**
 * Groups releases by version month, and splits a month with many records into parts. Parts are numbered from
 * the oldest, so that new releases do not change them; the newest has the month's address.
 * @param pieces newest first
 */
export function listParts(pieces: readonly PagePieces[]): ListPart[] {
  const months = Map.groupBy(pieces, ({ version }) => version.slice(0, 5));
  return [...months].flatMap(([month, releases]) => {
    const parts = filled(releases.toReversed());
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

/** Oldest first, also within a release. A release is split only if it does not fit on one page. */
function filled(releases: readonly PagePieces[]): ReleaseSlice[][] {
  const parts: ReleaseSlice[][] = [];
  let room = 0;
  for (const release of releases) {
    let to = release.packageCount;
    if (parts.length === 0 || to > room) {
      parts.push([]);
      room = mostRecords;
    }
    for (; to > mostRecords; to -= mostRecords) {
      parts.at(-1)?.push({ release, from: to - mostRecords, to });
      parts.push([]);
      room = mostRecords;
    }
    parts.at(-1)?.push({ release, from: 0, to });
    room -= Math.max(to, 1);
  }
  return parts;
}
