import { closeSync, openSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from "kysely";
import { queue } from "../../../shared/queue.ts";
import { grouped } from "./group.ts";
import { runDirectly } from "./prepared.ts";
import type { Database, Schema } from "./schema.ts";

/** Milliseconds that a command and the server wait for each other's transactions. */
const busyTimeoutMilliseconds = 10_000;

/** Polling interval for commits of other processes, in milliseconds. */
const lookEvery = 500;

/** Opens a controller's SQLite file, or creates it. Each commit is synced to disk. */
export function openSqlite(file: string): Database {
  // Created for the owner only, before SQLite does it; SQLite gives its log file the same permissions.
  closeSync(openSync(file, "a", 0o600));
  const writer = open(file);
  const reader = open(file);
  const [write, read] = [kyselyOver(writer), kyselyOver(reader)];
  const inTurn = queue();
  const listeners = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  const versionNow = versionsOf(reader);
  let version = 0;
  const notify = () => {
    for (const listener of listeners) listener();
  };
  const look = () => {
    const now = versionNow();
    if (now !== version) notify();
    version = now;
  };
  return {
    kind: "sqlite",
    read,
    write: grouped(inTurn, async (work) => {
      await inTransaction(write, work);
      notify();
    }),
    note: (work) => inTurn(async () => void (await work(write))),
    onCommit(listener) {
      if (listeners.size === 0) version = versionNow();
      listeners.add(listener);
      timer ??= setInterval(look, lookEvery).unref();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    async close() {
      clearInterval(timer);
      await inTurn(async () => {});
      reader.close();
      writer.close();
    },
  };
}

function open(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMilliseconds });
  // recursive_triggers: otherwise "insert or replace" would delete rows of the audit log without its triggers.
  database.exec(
    "pragma recursive_triggers = on; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma secure_delete = on",
  );
  return database;
}

/** data_version counts only commits of other connections, so another connection must be asked. */
function versionsOf(database: DatabaseSync): () => number {
  const statement = database.prepare("pragma data_version");
  return () => Number(statement.get()?.data_version);
}

async function inTransaction(
  database: Kysely<Schema>,
  work: (database: Kysely<Schema>) => Promise<{ sent: Promise<unknown> }>,
): Promise<void> {
  await database.executeQuery(CompiledQuery.raw("begin immediate"));
  try {
    const { sent } = await work(database);
    await sent;
    await database.executeQuery(CompiledQuery.raw("commit"));
  } catch (error) {
    // On a full disk SQLite has already rolled back.
    await database.executeQuery(CompiledQuery.raw("rollback")).catch(() => {});
    throw error;
  }
}

function kyselyOver(database: DatabaseSync): Kysely<Schema> {
  const prepare = preparedOn(database);
  const dialect: Dialect = {
    createAdapter: () => new Adapter(),
    createDriver: () => new ImmediateDriver({ database: { prepare, close() {} } }),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
  const kysely = new Kysely<Schema>({ dialect });
  runDirectly(kysely, (text, parameters) => {
    const statement = prepare(text);
    if (statement.reader) return statement.all(parameters);
    statement.run(parameters);
    return [];
  });
  return kysely;
}

/** With only one connection, locking for migrations is unnecessary. */
class Adapter extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true;
  }
  /** A migration step is applied completely or not at all. */
  override get supportsTransactionalDdl() {
    return true;
  }
}

/** A transaction that begins as a reader could not become a writer after another process has written. */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }
}

const maxStatements = 200;

/** Prepares each statement once, in the form that kysely expects. */
function preparedOn(database: DatabaseSync): (text: string) => SqliteStatement {
  const known = new Map<string, SqliteStatement>();
  return (text) => {
    const before = known.get(text);
    if (before) return before;
    if (known.size >= maxStatements) known.clear();
    const prepared = statementOf(database.prepare(text));
    known.set(text, prepared);
    return prepared;
  };
}

function statementOf(statement: StatementSync): SqliteStatement {
  const reader = statement.columns().length > 0;
  // Otherwise `run` throws after it has inserted a row with a number from 2^53 on.
  if (!reader) statement.setReadBigInts(true);
  return {
    reader,
    all: (values) => allRows(statement, values as SQLInputValue[]),
    run: (values) => statement.run(...(values as SQLInputValue[])),
    iterate: (values) => statement.iterate(...(values as SQLInputValue[])),
  };
}

/**
 * All rows, with integers as numbers. Integers from 2^53 on, which the controller never writes, are rounded as
 * with PostgreSQL; `node:sqlite` throws an error for them. Statements that change something return no rows here.
 */
function allRows(statement: StatementSync, values: readonly SQLInputValue[]): unknown[] {
  try {
    return statement.all(...values);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_OUT_OF_RANGE") throw error;
  }
  statement.setReadBigInts(true);
  try {
    return statement.all(...values).map(withNumbers);
  } finally {
    statement.setReadBigInts(false);
  }
}

const withNumbers = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]),
  );
