import type { Row } from "../../selection/record-index.ts";
import { canBeFacet, facetSegment } from "../facets-paths.ts";

const variantFields = ["min_os_version", "max_os_version", "gui_only", "headless"] as const;

type Variant = Partial<Record<(typeof variantFields)[number], unknown>>;

/** A query of `latest/` that has an answer. */
export interface LatestKey {
  type: string;
  /** `type/…|min|max|gui_only|headless`; empty: not given. */
  key: string;
  bounds: Variant;
}

/** Combinations of variant fields that a type's records have. */
export function latestKeys(rows: readonly Row[]): LatestKey[] {
  const keys = new Map<string, LatestKey>();
  const seen = new Set<string>();
  for (const row of rows) {
    const type = row.package_type;
    if (!canBeFacet(type)) continue;
    const own = JSON.stringify([type, ...variantFields.map((field) => row[field])]);
    if (seen.has(own)) continue;
    seen.add(own);
    for (const bounds of subsets(row)) {
      const parts = variantFields.map((field) => (field in bounds ? nameOf(bounds[field]) : ""));
      if (parts.includes(undefined)) continue;
      const key = [`type/${facetSegment(type)}`, ...parts].join("|");
      keys.set(key, { type, key, bounds });
    }
  }
  return [...keys.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function* subsets(row: Row): Generator<Variant> {
  for (let chosen = 0; chosen < 1 << variantFields.length; chosen++) {
    const fields = variantFields.filter((_, bit) => chosen & (1 << bit));
    yield Object.fromEntries(fields.map((field) => [field, row[field] ?? null]));
  }
}

/** undefined: unknown to hosts. */
function nameOf(value: unknown): string | undefined {
  if (value === null) return "null";
  if (typeof value === "boolean") return String(value);
  return canBeFacet(value) ? facetSegment(value) : undefined;
}

/** Query string of a key. */
export const latestQuery = (type: string, bounds: Variant): URLSearchParams =>
  new URLSearchParams({
    package_type: type,
    ...Object.fromEntries(
      Object.entries(bounds).map(([field, value]) => [field, value === null ? "" : String(value)]),
    ),
  });
