import { type Kysely, sql } from "kysely";
import { type Migration, type MigrationProvider, Migrator } from "kysely/migration";
import { nameKeyOf } from "./name-key.ts";
import { itemsOf } from "./prepared.ts";
import type { DatabaseKind, Schema } from "./schema.ts";

type Fill = (database: Kysely<never>) => Promise<void>;
/** Statements of one step, and values that SQL cannot compute. Released steps never change; new ones are appended. */
type Step = (kind: DatabaseKind) => readonly (string | Fill)[];

const ordinal = (kind: DatabaseKind) =>
  kind === "sqlite"
    ? "ordinal integer primary key autoincrement"
    : "ordinal bigint generated always as identity primary key";
const table = (kind: DatabaseKind, name: string, columns: string) =>
  `create table ${name} (${columns})${kind === "sqlite" ? " strict" : ""}`;

/** Used since step 0003. */
const userColumns = `id text not null unique, name text, email text unique, username text unique, role text not null,
  status text not null, authz_devices integer not null, authz_policies integer not null, authz_control_panel integer not null,
  authz_users integer not null, password text, created_at text not null, check (email is not null or username is not null)`;

const steps: Record<string, Step> = {
  "0001-devices-users-keys-audit": (kind) => [
    table(kind, "meta", "key text primary key, value text not null"),
    table(
      kind,
      "devices",
      `${ordinal(kind)}, id text not null unique, name text, state text not null, serial text, serial_key text,
      public_key text not null unique, ipv6 text, device_type text, device_os text, controller_id text, owned_by_org text,
      assigned_to_user text, last_seen text, last_seen_version text, version integer not null, created_at text not null,
      state_changed_at text not null, state_changed_by text, state_reason text, token_digest text,
      check (state in ('pending', 'accepted', 'rejected')), check (token_digest is null or state = 'accepted')`,
    ),
    "create index devices_by_state on devices (state, ordinal)",
    "create index devices_by_serial on devices (serial_key)",
    "create index devices_by_user on devices (assigned_to_user)",
    table(
      kind,
      "users",
      `${ordinal(kind)}, id text not null unique, name text, email text not null unique, username text unique, role text not null,
      status text not null, authz_devices integer not null, authz_policies integer not null, authz_control_panel integer not null,
      authz_users integer not null, password text, created_at text not null`,
    ),
    table(
      kind,
      "keys",
      `${ordinal(kind)}, id text not null unique, owner text, name text, scopes text not null, digest text not null,
      previous_digest text, previous_until text, created_by text not null, created_at text not null, rotated_at text,
      expires_at text, disabled integer not null, revoked_at text, last_used_at text`,
    ),
    "create index keys_by_owner on keys (owner)",
    table(
      kind,
      "sessions",
      "digest text primary key, user_id text not null, created_at text not null, expires_at text not null",
    ),
    "create index sessions_by_user on sessions (user_id)",
    table(
      kind,
      "serials",
      `serial_key text primary key, serial text not null, enforce_state text not null, device_id text, source text not null,
      created_by text, created_at text not null`,
    ),
    table(kind, "used_nonces", "digest text primary key, expires_at text not null"),
    table(
      kind,
      "audit_log",
      `seq ${kind === "sqlite" ? "integer" : "bigint"} primary key, at text not null, actor_kind text not null, actor_id text,
      actor_name text, ip text, request_id text, code text not null, target_kind text, target_id text, "before" text, "after" text,
      hash text not null`,
    ),
    "create index audit_log_by_target on audit_log (target_id, seq)",
    ...appendOnly(kind),
  ],
  // Checks only new rows, because a log tampered with earlier must stay readable for `audit verify`.
  "0002-audit-numbers-from-1": (kind) => [
    kind === "sqlite"
      ? `create trigger audit_log_from_1 before insert on audit_log when new.seq < 1
        begin select raise(abort, 'the audit log is numbered from 1'); end`
      : "alter table audit_log add constraint audit_log_from_1 check (seq >= 1) not valid",
  ],
  "0003-users-without-email": (kind) =>
    kind === "sqlite"
      ? [
          table(kind, "users_3", `${ordinal(kind)}, ${userColumns}`),
          "insert into users_3 select * from users",
          // Row numbers are never reused, not even those of deleted users.
          "update sqlite_sequence set seq = (select seq from sqlite_sequence where name = 'users') where name = 'users_3'",
          "drop table users",
          "alter table users_3 rename to users",
        ]
      : [
          "alter table users alter column email drop not null",
          "alter table users add check (email is not null or username is not null)",
        ],
  "0004-devices-by-name": (kind) => [
    `alter table devices add column name_key text ${kind === "sqlite" ? "" : 'collate "C"'} not null default ''`,
    (database) => fillNameKeys(database as never, kind),
    "create index devices_by_name on devices (name_key, ordinal)",
    "create index devices_by_state_and_name on devices (state, name_key, ordinal)",
  ],
};

const portion = 1000;

async function fillNameKeys(database: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await database
      .selectFrom("devices")
      .select(["ordinal", "id", "name", "serial"])
      .where("ordinal", ">", after)
      .orderBy("ordinal")
      .limit(portion)
      .execute();
    const keys = JSON.stringify(rows.map(({ id, name, serial }) => [id, nameKeyOf(name, serial)]));
    await sql`update devices set name_key = given.name_key
      from (select value ->> 0 as id, value ->> 1 as name_key from ${itemsOf(kind, keys)}) as given
      where devices.id = given.id`.execute(database);
    const last = rows.at(-1);
    if (!last || rows.length < portion) return;
    after = last.ordinal;
  }
}

/** All statements that create a database of this version, in order. */
export const statementsOf = (kind: DatabaseKind): string[] =>
  Object.values(steps).flatMap((step) => step(kind).filter((each) => typeof each === "string"));

function appendOnly(kind: DatabaseKind): string[] {
  if (kind === "sqlite") {
    return ["update", "delete"].map(
      (event) =>
        `create trigger audit_log_no_${event} before ${event} on audit_log
        begin select raise(abort, 'the audit log only grows'); end`,
    );
  }
  return [
    `create function audit_log_only_grows() returns trigger language plpgsql
    as $$ begin raise exception 'the audit log only grows'; end $$`,
    `create trigger audit_log_no_change before update or delete on audit_log
    for each row execute function audit_log_only_grows()`,
    `create trigger audit_log_no_truncate before truncate on audit_log
    for each statement execute function audit_log_only_grows()`,
    "create unlogged table counters (key text, window_start bigint, count integer not null, primary key (key, window_start))",
  ];
}

/** The database belongs to a newer relcat, or a migration failed. */
export class MigrationFailed extends Error {
  override readonly name = "MigrationFailed";
}

/** Migrates to a step or to the last, never backwards. @returns names of the steps that ran @throws MigrationFailed */
export async function migrate(
  database: Kysely<never>,
  kind: DatabaseKind,
  step = Object.keys(steps).at(-1) ?? "",
): Promise<string[]> {
  const provider: MigrationProvider = {
    getMigrations: async () =>
      Object.fromEntries(Object.entries(steps).map(([name, each]) => [name, migration(each(kind))])),
  };
  const schema = await schemaOf(database, kind);
  const migrator = new Migrator({ db: database, provider, ...(schema && { migrationTableSchema: schema }) });
  const { error, results = [] } = await migrator.migrateTo(step);
  if (error)
    throw new MigrationFailed(`The database cannot be brought up to date: ${(error as Error).message}`, {
      cause: error,
    });
  return results.map(({ migrationName }) => migrationName);
}

/** Pending steps; undefined: no controller was created here. @throws MigrationFailed for a database of a newer relcat */
export async function missingSteps(database: Kysely<never>, kind: DatabaseKind) {
  const done = new Set(await stepsDone(database, kind));
  for (const name of done) {
    if (!Object.hasOwn(steps, name)) {
      throw new MigrationFailed(
        `The database has the migration ${JSON.stringify(name)}, which this relcat does not know: use a newer one.`,
      );
    }
  }
  return done.size === 0 ? undefined : Object.keys(steps).filter((name) => !done.has(name));
}

async function stepsDone(database: Kysely<never>, kind: DatabaseKind): Promise<string[]> {
  const own = await schemaOf(database, kind);
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name, schema }) => name === "kysely_migration" && schema === own)) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(database);
  return rows.map(({ name }) => name);
}

/** PostgreSQL's schema of the controller: those of other programs may have tables with the same names. */
async function schemaOf(database: Kysely<never>, kind: DatabaseKind): Promise<string | undefined> {
  if (kind === "sqlite") return undefined;
  const { rows } = await sql<{ schema: string }>`select coalesce((select nspname from pg_class
    join pg_namespace on pg_namespace.oid = relnamespace where pg_class.oid = to_regclass('kysely_migration')),
    current_schema()) as schema`.execute(database);
  return rows[0]?.schema;
}

const migration = (statements: ReturnType<Step>): Migration => ({
  async up(database) {
    for (const statement of statements)
      await (typeof statement === "string"
        ? sql.raw(statement).execute(database)
        : statement(database as never));
  },
});
