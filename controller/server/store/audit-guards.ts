import { DatabaseSync } from "node:sqlite";
import { type Kysely, sql } from "kysely";
import { statementsOf } from "./migrations.ts";
import type { DatabaseKind, Schema } from "./schema.ts";

/** Triggers and constraints that keep the audit log append-only: definition by name. */
type Guards = ReadonlyMap<string, string>;

/** Compares the audit log's table, triggers and constraints with those of migrations. @returns the first difference */
export async function findMissingGuard(
  kind: DatabaseKind,
  read: Kysely<Schema>,
): Promise<string | undefined> {
  const expected = kind === "sqlite" ? sqliteExpected() : postgresExpected;
  const actual = kind === "sqlite" ? await sqliteGuards(read) : await postgresGuards(read);
  for (const [name, definition] of expected) {
    if (!actual.has(name)) return `the ${name} is missing: the database lets the log be changed`;
    if (actual.get(name) !== definition) return `the ${name} was changed`;
  }
  const added = [...actual.keys()].find((name) => !expected.has(name));
  return added === undefined ? undefined : `the ${added} was added`;
}

interface Definition {
  type: string;
  name: string;
  sql: string;
}

/** Triggers on all tables count, because one on devices could write audit rows. */
const sqliteObjects = `select type, name, sql from sqlite_master
  where (type = 'trigger' or name = 'audit_log') and sql is not null`;

/** Runs the migrations in memory to get the expected objects. */
function sqliteExpected(): Guards {
  const database = new DatabaseSync(":memory:");
  try {
    for (const statement of statementsOf("sqlite")) database.exec(statement);
    return named(database.prepare(sqliteObjects).all() as unknown as Definition[]);
  } finally {
    database.close();
  }
}

const sqliteGuards = async (read: Kysely<Schema>): Promise<Guards> =>
  named((await sql.raw<Definition>(sqliteObjects).execute(read)).rows);

const named = (rows: readonly Definition[]): Guards =>
  new Map(rows.map((row) => [`${row.type} ${row.name}`, row.sql]));

/** pg_trigger.tgtype bits: 1 row-level, 2 before, 8 delete, 16 update, 32 truncate; O: enabled. */
const postgresExpected: Guards = new Map([
  ["constraint audit_log_from_1", "CHECK (seq >= 1)"],
  ["constraint audit_log_pkey", "PRIMARY KEY (seq)"],
  ["trigger audit_log_no_change", "27 O audit_log_only_grows"],
  ["trigger audit_log_no_truncate", "34 O audit_log_only_grows"],
  ["function audit_log_only_grows", "begin raise exception 'the audit log only grows'; end"],
]);

async function postgresGuards(read: Kysely<Schema>): Promise<Guards> {
  const { rows } = await sql<Omit<Definition, "type">>`
    select 'constraint ' || conname as name, regexp_replace(pg_get_constraintdef(oid, true), ' NOT VALID$', '') as sql
      from pg_constraint where conrelid = 'audit_log'::regclass and contype in ('c', 'p')
    union all
    select 'trigger ' || tgname, concat_ws(' ', tgtype, tgenabled, tgfoid::regproc) from pg_trigger
      where tgrelid = 'audit_log'::regclass and not tgisinternal
    union all
    select 'rule ' || rulename, ev_type::text from pg_rewrite where ev_class = 'audit_log'::regclass
    union all
    select 'function ' || proname, btrim(prosrc) from pg_proc where oid = to_regproc('audit_log_only_grows')`.execute(
    read,
  );
  return new Map(rows.map(({ name, sql: definition }) => [name, definition]));
}
