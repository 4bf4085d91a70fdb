import {
  type CompiledQuery,
  type DialectAdapter,
  type Kysely,
  type QueryExecutorProvider,
  type RawBuilder,
  SqliteAdapter,
  sql,
} from "kysely";
import type { DatabaseKind } from "./database.ts";
import type { Schema } from "./schema.ts";

interface Query<Row> {
  compile(database: QueryExecutorProvider): CompiledQuery<Row>;
}

/** Placeholder for a value while the SQL text is built. */
class Place {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/** For synchronous databases: queries need no queue, so frequent ones bypass kysely. */
export abstract class DirectAdapter extends SqliteAdapter {
  /** @returns rows, if the statement returns any */
  abstract run(text: string, parameters: readonly unknown[]): unknown[];
}

const names = new Map<string, string>();

/** Name of a prepared statement, which lets the server reuse its plan; undefined for rare queries. */
export const nameOfQuery = (text: string): string | undefined => names.get(text);

/**
 * A query for hot paths: its SQL text is built once, and each call binds only values.
 * @param build must not inspect the values, which are placeholders
 */
export function prepared<Values extends unknown[], Row>(
  build: (on: { database: Kysely<Schema>; kind: DatabaseKind }, ...values: Values) => Query<Row>,
): (database: Kysely<Schema>, ...values: Values) => Promise<Row[]> {
  const known = new WeakMap<DialectAdapter, CompiledQuery<Row>>();
  const places = Array.from({ length: build.length - 1 }, (_, index) => new Place(index));
  return async (database, ...values) => {
    const { adapter } = database.getExecutor();
    const kind = adapter instanceof SqliteAdapter ? "sqlite" : "postgres";
    let query = known.get(adapter);
    if (!query) {
      query = build({ database, kind }, ...(places as Values)).compile(database);
      known.set(adapter, query);
      names.set(query.sql, names.get(query.sql) ?? `relcat_${names.size}`);
    }
    const parameters = query.parameters.map((given) =>
      given instanceof Place ? values[given.index] : given,
    );
    return adapter instanceof DirectAdapter
      ? (adapter.run(query.sql, parameters) as Row[])
      : (await database.executeQuery<Row>({ ...query, parameters })).rows;
  };
}

/** A JSON array of texts or whole numbers, as a list for `in`. */
export const valuesOf = (kind: DatabaseKind, type: "text" | "bigint", json: string): RawBuilder<unknown> =>
  kind === "sqlite"
    ? sql`(select value from json_each(${json}))`
    : sql`(select items::${sql.raw(type)} from jsonb_array_elements_text(${json}::jsonb) as items)`;

/** A JSON array as a table with a `value` column. */
export const itemsOf = (kind: DatabaseKind, json: string): RawBuilder<unknown> =>
  kind === "sqlite"
    ? sql`json_each(${json}) as items`
    : sql`jsonb_array_elements(${json}::jsonb) as items(value)`;
