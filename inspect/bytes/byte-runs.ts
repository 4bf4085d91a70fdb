import { lastNotGreater } from "../../shared/binary-search.ts";
import { type ByteSource, piecesOf, refuseBeyond, type Uncovered } from "./byte-source.ts";

/** A contiguous range of the file, and its offset in the concatenated content. */
export interface Run {
  from: number;
  size: number;
  start: number;
}

/** Presents scattered ranges of a source as one contiguous source. */
export function runsSource(source: ByteSource, runs: readonly Run[], name: string): ByteSource {
  const at = { name, size: sizeOf(runs) };
  return {
    ...at,
    read(from, length) {
      refuseBeyond(at, from, length);
      const parts = placesOf(runs, from, from + length);
      const [only] = parts;
      if (only && parts.length === 1) return source.read(only.from, only.size);
      return Buffer.concat(parts.map((part) => Uint8Array.from(source.read(part.from, part.size))));
    },
    async each(take) {
      for (const run of runs)
        for (const { bytes, at } of piecesOf(source, run.from, run.from + run.size))
          await take(bytes, run.start + at - run.from);
    },
  };
}

/** Maps a range of the concatenated content back to ranges of the file. */
export function placesOf(runs: readonly Run[], from: number, to: number): Run[] {
  const found: Run[] = [];
  for (
    let index = lastNotGreater(runs.length, (run) => runs[run]?.start ?? 0, from);
    index < runs.length;
    index++
  ) {
    const run = runs[index];
    if (!run || run.start >= to) break;
    const [first, last] = [Math.max(from, run.start), Math.min(to, run.start + run.size)];
    if (first < last) found.push({ from: run.from + first - run.start, size: last - first, start: first });
  }
  return found;
}

/** Appends bytes, merging them with the last run if they are adjacent. */
export function extend(runs: Run[], from: number, size: number): void {
  const last = runs.at(-1);
  if (last && last.from + last.size === from) last.size += size;
  else runs.push({ from, size, start: sizeOf(runs) });
}

export function sizeOf(runs: readonly Run[]): number {
  const last = runs.at(-1);
  return last ? last.start + last.size : 0;
}

export const openRuns = (runs: readonly Run[], why: string): Uncovered[] =>
  runs.map(({ from, size }) => ({ from, to: from + size, why }));
