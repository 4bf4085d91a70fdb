import { canonicalQuery, type ListQuery } from "../../pipeline/selection/query.ts";
import { select } from "../../pipeline/selection/select.ts";
import type { PackageList } from "./site.ts";

/** The result of a query, without copied bytes. */
export interface Selection {
  positions: readonly number[];
  /** Length of the JSON array in bytes. */
  length: number;
  etag: string;
}

/** A short query is part of the ETag unhashed, so it cannot collide. */
const longestKey = 200;

export async function selectList(list: PackageList, query: ListQuery): Promise<Selection> {
  const key = canonicalQuery(query);
  const positions = positionsOf(list, query, key);
  const mark = key.length <= longestKey ? key : await fingerprint(key);
  return {
    positions,
    length: list.texts.lengthOf(positions),
    etag: `"${list.digest.slice(0, 16)}-${mark}"`,
  };
}

const worthKeeping = 1000;
const mostKept = 8;

/** Cache of recent sort orders; everything else is computed faster than it is looked up. */
const sorted = new WeakMap<PackageList, Map<string, readonly number[]>>();

function positionsOf(list: PackageList, query: ListQuery, key: string): readonly number[] {
  if (query.ordering.length === 0) return select(list.index, query);
  const kept = sorted.get(list) ?? new Map<string, readonly number[]>();
  sorted.set(list, kept);
  const positions = kept.get(key) ?? select(list.index, query);
  if (positions.length < worthKeeping) return positions;
  kept.delete(key);
  kept.set(key, positions);
  const [oldest = key] = kept.keys();
  if (kept.size > mostKept) kept.delete(oldest);
  return positions;
}

/** First 16 hexadecimal digits of the SHA-256 of a text. */
export async function fingerprint(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest, 0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
