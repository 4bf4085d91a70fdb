import { type RecordField, recordFields } from "../documents/record-fields.ts";

export type Field = RecordField;

/** Fields that can be filtered by: all except the nested one. */
export const filterFields = recordFields.filter((field) => field !== "data");

export const isField = (name: string): name is Field => (recordFields as readonly string[]).includes(name);

export const isFilter = (name: string): boolean => name !== "data" && isField(name);

/** Sort order of values: null, false and true, numbers, texts by code unit, anything else by its JSON. */
interface SortKey {
  rank: number;
  key: unknown;
}

export function sortKey(value: unknown): SortKey {
  if (value === null || value === undefined) return { rank: 0, key: null };
  if (typeof value === "boolean") return { rank: 1, key: value };
  if (typeof value === "number") return { rank: 2, key: value };
  return typeof value === "string" ? { rank: 3, key: value } : { rank: 4, key: JSON.stringify(value) };
}

export function compareKeys(a: SortKey | undefined, b: SortKey | undefined): number {
  if (a?.rank !== b?.rank) return (a?.rank ?? 0) - (b?.rank ?? 0);
  const [left, right] = [a?.key, b?.key] as [string, string];
  return left < right ? -1 : left > right ? 1 : 0;
}
