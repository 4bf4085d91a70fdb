import { recordFields } from "../documents/record-fields.ts";
import type { Field } from "./fields.ts";

export type Row = Readonly<Record<string, unknown>>;

/** Searchable records; positions are those of the list. */
export interface RecordIndex {
  readonly count: number;
  value(field: Field, position: number): unknown;
  /** Versions among which `latest` is the highest one; undefined: all. */
  readonly offered?: ReadonlySet<string> | undefined;
}

/** @param dataOf reads the nested part of a record lazily, because it is large and seldom needed */
export const indexRecords = (
  rows: readonly Row[],
  offered?: ReadonlySet<string> | undefined,
  dataOf = (position: number): unknown => rows[position]?.data,
): RecordIndex => ({
  count: rows.length,
  offered,
  value: (field, position) => (field === "data" ? dataOf(position) : rows[position]?.[field]) ?? null,
});

const scalarFields = recordFields.filter((field) => field !== "data");

/** A record without its nested part. */
export const withoutData = (record: Row): Row =>
  Object.fromEntries(scalarFields.map((field) => [field, record[field]]));

/** Whether a value reads as `text` in a query. */
export function matcher(text: string): (value: unknown) => boolean {
  const values = valuesReadAs(text);
  return (value) => values.includes(value ?? null);
}

/** An empty value asks for null: an installer's unset variable must never widen its choice. */
function valuesReadAs(text: string): unknown[] {
  const values: unknown[] = [text];
  if (String(Number(text)) === text) values.push(Number(text));
  if (text === "" || text === "null") values.push(null);
  if (text === "true" || text === "1") values.push(true);
  if (text === "false" || text === "0") values.push(false);
  return values;
}
