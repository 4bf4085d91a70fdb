import {
  type CompiledQuery,
  type DialectAdapter,
  type Kysely,
  type QueryExecutorProvider,
  type RawBuilder,
  SqliteAdapter,
  sql,
} from "kysely";
import type { DatabaseKind, Schema } from "./schema.ts";

interface Query<Row> {
  compile(database: QueryExecutorProvider): CompiledQuery<Row>;
}

/** @param name of the prepared statement, by which the server finds its plan */
type Run = (text: string, parameters: readonly unknown[], name: string) => unknown[] | Promise<unknown[]>;
const direct = new WeakMap<DialectAdapter, Run>();

/** Lets frequent queries bypass kysely. The database must not be used for kysely's own transactions. */
export const runDirectly = (database: Kysely<Schema>, run: Run): void =>
  void direct.set(database.getExecutor().adapter, run);

const names = new Map<string, string>();

/**
 * A query for hot paths: its SQL text is built once, and each call binds only values.
 * @param build must not inspect the values, which are placeholders
 */
export function prepared<Values extends unknown[], Row>(
  build: (on: { database: Kysely<Schema>; kind: DatabaseKind }, ...values: Values) => Query<Row>,
): (database: Kysely<Schema>, ...values: Values) => Promise<Row[]> {
  const known = new WeakMap<DialectAdapter, { query: CompiledQuery<Row>; name: string; run: Run }>();
  const placeholders: unknown[] = Array.from({ length: build.length - 1 }, () => ({}));
  return async (database, ...values) => {
    const { adapter } = database.getExecutor();
    const kind = adapter instanceof SqliteAdapter ? "sqlite" : "postgres";
    let frequent = known.get(adapter);
    if (!frequent) {
      const query = build({ database, kind }, ...(placeholders as Values)).compile(database);
      const name = names.get(query.sql) ?? `relcat_${names.size}`;
      names.set(query.sql, name);
      const run = direct.get(adapter);
      if (!run) throw new Error("runDirectly was not called for this database");
      frequent = { query, name, run };
      known.set(adapter, frequent);
    }
    const { query, name, run } = frequent;
    const parameters = query.parameters.map((given) => {
      const place = placeholders.indexOf(given);
      return place === -1 ? given : values[place];
    });
    return (await run(query.sql, parameters, name)) as Row[];
  };
}

/** A JSON array of texts or whole numbers, as a list for `in`. */
export const valuesOf = (kind: DatabaseKind, type: "text" | "bigint", json: string): RawBuilder<unknown> =>
  kind === "sqlite"
    ? sql`(select value from json_each(${json}))`
    : sql`(select items::${sql.raw(type)} from jsonb_array_elements_text(${json}::jsonb) as items)`;

/** Rows as the text of a JSON array. @param columns each may have an alias: `users.id as user_id` */
export const rowsAsText = (
  kind: DatabaseKind,
  columns: readonly string[],
  from: RawBuilder<unknown>,
): RawBuilder<string> =>
  kind === "sqlite"
    ? sql`(select json_group_array(${objectOf(kind, columns)}) from ${from})`
    : sql`(select coalesce(json_agg(${objectOf(kind, columns)}), '[]')::text from ${from})`;

/** One row as the text of a JSON object, or null. @param columns as for `rowsAsText` */
export const rowAsText = (
  kind: DatabaseKind,
  columns: readonly string[],
  from: RawBuilder<unknown>,
): RawBuilder<string | null> => sql`(select cast(${objectOf(kind, columns)} as text) from ${from})`;

/** A row as a JSON object. @param columns as for `rowsAsText` */
export function objectOf(kind: DatabaseKind, columns: readonly string[]): RawBuilder<unknown> {
  const members = columns.flatMap((column) => {
    const [place = "", name = place.replace(/.*\./, "")] = column.split(" as ");
    return [sql.lit(name), sql.ref(place)];
  });
  return kind === "sqlite"
    ? sql`json_object(${sql.join(members)})`
    : sql`json_build_object(${sql.join(members)})`;
}

/** A JSON array as a table with a `value` column, which is binary: `->>` need not parse its text again. */
export const itemsOf = (kind: DatabaseKind, json: string): RawBuilder<unknown> =>
  kind === "sqlite"
    ? sql`jsonb_each(${json}) as items`
    : sql`jsonb_array_elements(${json}::jsonb) as items(value)`;
