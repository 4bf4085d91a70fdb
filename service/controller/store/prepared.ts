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

/** Stands for a value while the text is made. */
class Place {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/** Of a database that answers at once: nobody has to take turns, so what asks often goes there directly. */
export abstract class DirectAdapter extends SqliteAdapter {
  /** @returns the rows, if the statement has any */
  abstract run(text: string, parameters: readonly unknown[]): unknown[];
}

const names = new Map<string, string>();

/** By which a server knows the text again that it has parsed and planned; undefined for what runs seldom. */
export const nameOfQuery = (text: string): string | undefined => names.get(text);

/**
 * A query that runs with many requests: its text is made once, and each time it is only given its values.
 * @param build must not look at the values: they are not known yet
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

/** What stands in a JSON array of texts or of whole numbers, as a list to choose from. */
export const valuesOf = (kind: DatabaseKind, type: "text" | "bigint", json: string): RawBuilder<unknown> =>
  kind === "sqlite"
    ? sql`(select value from json_each(${json}))`
    : sql`(select items::${sql.raw(type)} from jsonb_array_elements_text(${json}::jsonb) as items)`;

/** The items of a JSON array as a table: each is the `value` of a row. */
export const itemsOf = (kind: DatabaseKind, json: string): RawBuilder<unknown> =>
  kind === "sqlite"
    ? sql`json_each(${json}) as items`
    : sql`jsonb_array_elements(${json}::jsonb) as items(value)`;
