import { Column, type Matches, ranksOf } from "./column.ts";
import { type Field, recordFields, sortKey } from "./fields.ts";

export { matcher } from "./column.ts";

export type Row = Readonly<Record<string, unknown>>;

/** Records that can be found by what their fields say; positions are those of the list. */
export interface RecordIndex {
  readonly count: number;
  value(field: Field, position: number): unknown;
  having(field: Field, text: string): Matches;
  /** Where each record stands among the others by a field; equal values share a rank. */
  ranks(field: Field): Uint32Array;
}

/** Indexes records that are in memory anyway: a field's table is made when somebody first asks for it. */
export function indexRecords(rows: readonly Row[]): RecordIndex {
  const columns = new Map<Field, Column>();
  const columnOf = (field: Field) => {
    const known = columns.get(field) ?? Column.of(rows.map((row) => row[field]));
    columns.set(field, known);
    return known;
  };
  const index = indexOf(rows.length, columnOf, (position) => rows[position]?.data);
  return { ...index, value: (field, position) => rows[position]?.[field] };
}

/**
 * Indexes records that are read one by one, and keeps no more of them than the distinct values of each field.
 * @param dataOf reads the nested part of a record again, which is most of it and seldom asked for
 */
export function indexStream(
  count: number,
  rows: Iterable<Row>,
  dataOf: (position: number) => unknown,
): RecordIndex {
  const columns = new Map<Field, Column>(scalarFields.map((field) => [field, new Column(count)]));
  for (const row of rows) {
    for (const [field, column] of columns) column.add(row[field]);
  }
  for (const column of columns.values()) column.finish();
  return indexOf(count, (field) => columns.get(field) ?? new Column(0), dataOf);
}

function indexOf(
  count: number,
  column: (field: Field) => Column,
  dataOf: (position: number) => unknown,
): RecordIndex {
  let dataRanks: Uint32Array | undefined;
  const ranksOfData = () => {
    dataRanks ??= ranksOf(Array.from({ length: count }, (_, position) => sortKey(dataOf(position))));
    return dataRanks;
  };
  return {
    count,
    value: (field, position) => (field === "data" ? dataOf(position) : column(field).value(position)),
    having: (field, text) => column(field).having(text),
    ranks: (field) => (field === "data" ? ranksOfData() : column(field).ranks()),
  };
}

const scalarFields = recordFields.filter((field) => field !== "data");

/** A record without its nested part, which is most of it and seldom asked for. */
export const withoutData = (record: Row): Row =>
  Object.fromEntries(scalarFields.map((field) => [field, record[field]]));
