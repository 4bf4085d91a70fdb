import type { Uncovered } from "../inspection.ts";

/** Offsets of the first byte, and of the first one after. */
export interface Range {
  from: number;
  to: number;
}

/** What these ranges leave of so many bytes. */
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

/** Where two of these ranges first overlap. */
export function overlap(ranges: readonly Range[]): number | undefined {
  let end = 0;
  for (const { from, to } of sorted(ranges)) {
    if (from < end) return from;
    end = to;
  }
  return undefined;
}

const sorted = (ranges: readonly Range[]) => ranges.toSorted((one, other) => one.from - other.from);

/** As ranges of what these are in, at its byte `start`. */
export const shifted =
  (start: number) =>
  ({ from, to, why }: Uncovered): Uncovered => ({ from: start + from, to: start + to, why });
