import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { queue } from "../../../shared/queue.ts";
import { grouped, type Transact } from "./group.ts";
import { runDirectly } from "./prepared.ts";
import type { Database, Schema } from "./schema.ts";

/** Id of the writers' advisory lock: arbitrary, but the same in every version. */
const writersLock = 7_265_171;
const channel = "relcat_commit";
const connections = 10;
/** Milliseconds. Without a limit, a server that stops answering would hold requests, and `serve` could not end. */
const patience = 30_000;

/** int8 as a number, because sequence numbers stay far below 2^53. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);

/**
 * @param onError receives errors of idle connections
 * @param limit milliseconds for a connection and for a statement; `?query_timeout=` of the address replaces the latter
 */
export async function openPostgres(
  url: string,
  onError: (error: Error) => void,
  limit = patience,
): Promise<Database> {
  const limits = { connectionTimeoutMillis: limit, query_timeout: limit, keepAlive: true };
  const pool = new pg.Pool({
    ...limits,
    connectionString: url,
    max: connections,
    types,
    application_name: "relcat",
    // Sends a statement without waiting for the answers to those before it.
    pipeline: true,
  });
  pool.on("error", onError);
  // If a connection in use is lost, its next statement fails. Without a listener the process would end.
  pool.on("connect", (client) => client.on("error", () => {}));
  // Otherwise the first statement would fail, and the reason would be part of another message.
  (await pool.connect()).release();
  const database = kyselyOver(pool);
  const commits = commitsOf({ ...limits, connectionString: url }, onError);
  const inTurn = queue();
  return {
    kind: "postgres",
    read: database,
    write: grouped(inTurn, async (work) => {
      const client = await pool.connect();
      await inTransaction(client, work).finally(() => client.release(client.getTransactionStatus() !== "I"));
    }),
    note: async (work) => void (await work(database)),
    onCommit: commits.listen,
    async close() {
      await commits.close();
      await inTurn(async () => {});
      await database.destroy();
    },
  };
}

function kyselyOver(pool: pg.Pool): Kysely<Schema> {
  const kysely = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  runDirectly(
    kysely,
    async (text, values, name) => (await pool.query({ name, text, values: [...values] })).rows,
  );
  return kysely;
}

const writers = new WeakMap<pg.PoolClient, Kysely<Schema>>();

/** Sends all statements over one connection. */
function kyselyOf(client: pg.PoolClient): Kysely<Schema> {
  const known = writers.get(client);
  if (known) return known;
  const query = client.query.bind(client);
  const single = { query, connect: async () => ({ query, release() {} }), end: async () => {} };
  const kysely = kyselyOver(single as never);
  writers.set(client, kysely);
  return kysely;
}

/** The first statements of `work` share a round trip with the beginning, and those that it sent with the commit. */
async function inTransaction(client: pg.PoolClient, work: Parameters<Transact>[0]): Promise<void> {
  const begun = Promise.all([
    client.query("begin"),
    client.query({ name: "relcat_lock", text: `select pg_advisory_xact_lock(${writersLock})` }),
  ]);
  begun.catch(() => {});
  try {
    const { sent } = await work(kyselyOf(client));
    const ended = Promise.all([
      client.query({ name: "relcat_notify", text: `select pg_notify('${channel}', '')` }),
      client.query("commit"),
    ]);
    ended.catch(() => {});
    await Promise.all([begun, sent]);
    const [, { command }] = await ended;
    if (command !== "COMMIT") throw new Error("PostgreSQL rolled the transaction back");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** One connection that listens for commits of all processes, open while there are listeners. */
function commitsOf(config: pg.ClientConfig, onError: (error: Error) => void) {
  const listeners = new Set<() => void>();
  let client: Promise<pg.Client> | undefined;

  function open(): void {
    if (client) return;
    client = connect();
    client.catch(lost);
  }

  async function connect(): Promise<pg.Client> {
    const connected = new pg.Client({ ...config, application_name: "relcat events" });
    connected.on("notification", notify);
    connected.on("error", lost);
    await connected.connect();
    await connected.query(`listen ${channel}`);
    notify();
    return connected;
  }

  /** Listeners are called after a reconnect, because notifications may have been lost. */
  function lost(error: Error): void {
    onError(error);
    client = undefined;
    if (listeners.size > 0) setTimeout(open, 1000).unref();
  }

  function notify(): void {
    for (const listener of listeners) listener();
  }

  return {
    listen(listener: () => void): () => void {
      listeners.add(listener);
      open();
      return () => void listeners.delete(listener);
    },
    async close(): Promise<void> {
      listeners.clear();
      await (await client?.catch(() => undefined))?.end();
    },
  };
}
