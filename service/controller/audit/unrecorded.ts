import { type Kysely, type RawBuilder, sql } from "kysely";
import type { DatabaseKind } from "../store/database.ts";
import type { Schema } from "../store/schema.ts";
import type { AuditCode } from "./audit-log.ts";

/** A table whose relevant changes must all be in the audit log. */
interface Recorded {
  what: string;
  table: "devices" | "users" | "keys";
  made: AuditCode;
  gone?: AuditCode;
  /** Columns whose current value must equal the last recorded one. */
  columns: readonly string[];
}

const recorded: readonly Recorded[] = [
  {
    what: "user",
    table: "users",
    made: "user.created",
    gone: "user.deleted",
    columns: ["role", "status", "authz_devices", "authz_control_panel", "authz_users"],
  },
  { what: "key", table: "keys", made: "key.created", columns: ["scopes", "disabled"] },
  { what: "device", table: "devices", made: "device.enrolled", gone: "device.deleted", columns: ["state"] },
];

/**
 * Compares rows that decide on access with the audit log, to find changes made directly by SQL. Each
 * statement reads one snapshot, so writers may continue.
 * @returns the first difference, or undefined
 */
export async function findUnrecorded(kind: DatabaseKind, read: Kysely<Schema>): Promise<string | undefined> {
  for (const each of recorded) {
    const added = await firstOf(read, unrecordedOf(each));
    if (added !== undefined) return `${each.what} ${added} is in the database, but not in the log`;
    const removed = each.gone && (await firstOf(read, removedOf(each, each.gone)));
    if (removed !== undefined)
      return `${each.what} ${removed} was removed from the database, but not in the log`;
    for (const column of each.columns) {
      const id = await firstOf(read, changedOf(kind, each, column));
      if (id !== undefined) return `${each.what} ${id} differs in ${column} from what the log recorded`;
    }
  }
  const id = await firstOf(read, revoked);
  return id === undefined ? undefined : `key ${id} is in force, but the log records that it was revoked`;
}

async function firstOf(read: Kysely<Schema>, query: RawBuilder<{ id: string }>): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`select id from (${query}) as found limit 1`.execute(read);
  return rows[0]?.id;
}

const unrecordedOf = ({ table, made }: Recorded) => sql<{ id: string }>`
  select id from ${sql.table(table)} as thing
  where not exists (select 1 from audit_log where target_id = thing.id and code = ${made})`;

const removedOf = ({ table, made }: Recorded, gone: AuditCode) => sql<{ id: string }>`
  select target_id as id from audit_log as beginning where code = ${made}
    and not exists (select 1 from ${sql.table(table)} where id = beginning.target_id)
    and not exists (select 1 from audit_log where target_id = beginning.target_id and code = ${gone})`;

/** A row that does not mention the column did not change it; a key that no row disabled is enabled. */
function changedOf(kind: DatabaseKind, { table }: Recorded, column: string): RawBuilder<{ id: string }> {
  const member = sql`${kind === "sqlite" ? sql`"after"` : sql`"after"::json`} ->> ${sql.lit(column)}`;
  const last = sql`(select cast(${member} as text) from audit_log
    where target_id = thing.id and ${member} is not null order by seq desc limit 1)`;
  const flag = sql`case ${last} when 'true' then '1' when 'false' then '0' else coalesce(${last}, '0') end`;
  return sql`select id from ${sql.table(table)} as thing where cast(${sql.ref(column)} as text) is distinct from ${flag}`;
}

const revoked = sql<{ id: string }>`
  select id from keys where revoked_at is null
    and exists (select 1 from audit_log where target_id = keys.id and code = 'key.revoked')`;
