import { sha256 } from "../trust/metadata.ts";

export interface Sample {
  count: number;
  /** The same seed selects the same sample. */
  seed: string;
}

/** Deterministic sample of the names, ascending; all of them without a sample. */
export function chosen(names: readonly string[], sample: Sample | undefined): string[] {
  if (!sample || sample.count >= names.length) return [...names].sort();
  const order = new Map(
    names.map((name) => [name, sha256(new TextEncoder().encode(`${sample.seed}\n${name}`))]),
  );
  const rank = (name: string) => order.get(name) ?? "";
  return names
    .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .slice(0, sample.count)
    .sort();
}
