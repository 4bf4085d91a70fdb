/** Start offset, inclusive, and end offset, exclusive. */
export interface Range {
  from: number;
  to: number;
}

/** Bytes that the signature does not cover: a change there goes unnoticed. */
export interface Uncovered extends Range {
  why: string;
}

/** The parts of `0..size` that no range covers. */
export function gaps(ranges: readonly Range[], size: number, why: string): Uncovered[] {
  const found: Uncovered[] = [];
  let end = 0;
  for (const { from, to } of sorted(ranges)) {
    if (from > end) found.push({ from: end, to: from, why });
    end = Math.max(end, to);
  }
  if (size > end) found.push({ from: end, to: size, why });
  return found;
}

/** Start of the first overlap. */
export function overlap(ranges: readonly Range[]): number | undefined {
  let end = 0;
  for (const { from, to } of sorted(ranges)) {
    if (from < end) return from;
    end = to;
  }
  return undefined;
}

const sorted = (ranges: readonly Range[]) => ranges.toSorted((one, other) => one.from - other.from);

/** Moves ranges by `start`, the offset of their container. */
export const shifted =
  (start: number) =>
  ({ from, to, why }: Uncovered): Uncovered => ({ from: start + from, to: start + to, why });
