import { canonicalQuery, type ListQuery } from "../../pipeline/selection/query.ts";
import { select } from "../../pipeline/selection/select.ts";
import type { PackageList } from "./site.ts";

/** What a query selects from a list; no byte of it is copied yet. */
export interface Selection {
  positions: readonly number[];
  /** Bytes of the JSON array. */
  length: number;
  etag: string;
}

/** A query that is short stands in the ETag as it is: nothing needs to be hashed, and nothing can collide. */
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

/** What was sorted lately of each list: all else is found faster than it is remembered. */
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

/** 16 hexadecimal characters of the SHA-256 of a text. */
export async function fingerprint(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest, 0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
