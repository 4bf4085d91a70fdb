import type { PagePieces } from "./page-pieces.ts";

/** Records on one page; JSON is never split. */
export const mostRecords = 500;

/** What one page shows of a release: rows `from` up to, not including, `to`. */
export interface ReleaseSlice {
  release: PagePieces;
  from: number;
  to: number;
}

/** A page's worth of a version month. */
export interface ListPart {
  /** For people: `26.08`, or `26.08, part 2`. */
  label: string;
  /** Below `page/`: `26.08/`, or `26.08/2/`. */
  folder: string;
  /** Newest first. */
  slices: readonly ReleaseSlice[];
}

/**
 * The releases as pages show them: by version month, and a month of many records in parts. Parts are filled
 * and numbered from the oldest, so that new releases leave them as they are; the newest has the month's address.
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

/** Oldest first, within a release too. A release is split only when it is too long for a page of its own. */
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
