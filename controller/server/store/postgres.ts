import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import type { Database } from "./database.ts";
import { grouped } from "./group.ts";
import { nameOfQuery } from "./prepared.ts";
import { queue } from "./queue.ts";
import type { Schema } from "./schema.ts";

/** Id of the writers' advisory lock: arbitrary, but the same in every version. */
const writersLock = 7_265_171;
const channel = "relcat_commit";
const connections = 10;

/** int8 as a number, because sequence numbers stay far below 2^53. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);

/**
 * Connects to a controller's PostgreSQL database.
 * @param onError receives errors of idle connections
 */
export async function openPostgres(url: string, onError: (error: Error) => void): Promise<Database> {
  const options = { connectionString: url, max: connections, types, application_name: "relcat" };
  const pool = new pg.Pool({ ...options, Client });
  pool.on("error", onError);
  const database = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  const commits = new Commits(url, onError);
  const inTurn = queue();
  return {
    kind: "postgres",
    read: database,
    write: grouped(inTurn, (work) =>
      database.transaction().execute(async (transaction) => {
        await sql`select pg_advisory_xact_lock(${writersLock})`.execute(transaction);
        await work(transaction);
        await sql`select pg_notify(${channel}, '')`.execute(transaction);
      }),
    ),
    note: async (work) => void (await work(database)),
    onCommit: (listener) => commits.listen(listener),
    async close() {
      await commits.close();
      await inTurn(async () => {});
      await database.destroy();
    },
  };
}

/** Prepares frequent statements once per connection. */
class Client extends pg.Client {
  override query(...[text, ...rest]: unknown[]): never {
    const name = typeof text === "string" ? nameOfQuery(text) : undefined;
    return super.query.apply(this, [name ? { name, text } : text, ...rest] as never) as never;
  }
}

/** One connection that listens for commits of all processes, open while there are listeners. */
class Commits {
  readonly #url: string;
  readonly #onError: (error: Error) => void;
  readonly #listeners = new Set<() => void>();
  #client: Promise<pg.Client> | undefined;

  constructor(url: string, onError: (error: Error) => void) {
    this.#url = url;
    this.#onError = onError;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#open();
    return () => void this.#listeners.delete(listener);
  }

  #open(): void {
    if (this.#client) return;
    this.#client = this.#connect();
    this.#client.catch((error) => this.#lost(error));
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.#url, application_name: "relcat events" });
    client.on("notification", () => this.#notify());
    client.on("error", (error) => this.#lost(error));
    await client.connect();
    await client.query(`listen ${channel}`);
    this.#notify();
    return client;
  }

  /** Listeners are called after a reconnect, because notifications may have been lost. */
  #lost(error: Error): void {
    this.#onError(error);
    this.#client = undefined;
    if (this.#listeners.size > 0) setTimeout(() => this.#open(), 1000).unref();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await (await this.#client?.catch(() => undefined))?.end();
  }
}
