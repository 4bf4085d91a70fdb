import type { PagePieces } from "./page-pieces.ts";

/** Files on a page of downloads, and records on a page of the browsable list: at most about 100 KB of HTML. */
export const filesPerPage = 100;
export const recordsPerPage = 50;

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
 * @param most artifacts per page; JSON answers are never paginated
 */
export function listParts(pieces: readonly PagePieces[], most: number): ListPart[] {
  const months = Map.groupBy(pieces, ({ version }) => version.slice(0, 5));
  return [...months].flatMap(([month, releases]) => {
    const parts = filled(releases.toReversed(), most);
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
function filled(releases: readonly PagePieces[], most: number): ReleaseSlice[][] {
  const parts: ReleaseSlice[][] = [];
  let room = 0;
  for (const release of releases) {
    let to = release.packageCount;
    if (parts.length === 0 || to > room) {
      parts.push([]);
      room = most;
    }
    for (; to > most; to -= most) {
      parts.at(-1)?.push({ release, from: to - most, to });
      parts.push([]);
      room = most;
    }
    parts.at(-1)?.push({ release, from: 0, to });
    room -= Math.max(to, 1);
  }
  return parts;
}
