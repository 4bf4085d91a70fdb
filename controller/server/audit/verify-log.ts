import { type Kysely, type RawBuilder, sql } from "kysely";
import { userFlags } from "../access.ts";
import { digestOf, isSameDigest, type Pepper } from "../secrets.ts";
import type { AuditCode } from "../store/audit-codes.ts";
import { findMissingGuard } from "../store/audit-guards.ts";
import { type Head, hashed, readHead } from "../store/audit-log.ts";
import type { AuditRow, Database, DatabaseKind, Schema } from "../store/schema.ts";

/** seq: the row at which the chain breaks; 0: no single row. */
export type LogVerdict = { verdict: "whole"; head: Head } | { verdict: "broken"; seq: number; why: string };

const broken = (seq: number, why: string): LogVerdict => ({ verdict: "broken", seq, why });

/**
 * Verifies the audit log: the hash chain, the stored head, the database's own triggers, and the devices,
 * users, keys and decisions against their recorded changes.
 * @param known a head noted earlier, which the log must still contain
 */
export async function verifyLog(
  { kind, read }: Pick<Database, "kind" | "read">,
  pepper: Pepper,
  known?: Head,
): Promise<LogVerdict> {
  const verdict = await walk(read, pepper, known);
  if (verdict.verdict === "broken") return verdict;
  const why = (await findMissingGuard(kind, read)) ?? (await findUnrecorded(kind, read));
  return why === undefined ? verdict : broken(0, why);
}

const batch = 1000;

async function walk(read: Kysely<Schema>, pepper: Pepper, known: Head | undefined): Promise<LogVerdict> {
  // The head is read first, so that rows written meanwhile come after it and are verified too.
  const { isSigned, ...end } = await readHead(read, pepper);
  if (!isSigned)
    return broken(end.seq, "the record of the log's end was changed, or the pepper is a different one");
  let last: Head = { seq: 0, hash: "" };
  let rows = await rowsAfter(read);
  while (rows.length > 0) {
    for (const row of rows) {
      const why = faultOf(row, { last, end }, pepper) ?? mismatchOf(row, end) ?? mismatchOf(row, known);
      if (why !== undefined) return broken(Math.min(row.seq, last.seq + 1), why);
      last = { seq: row.seq, hash: row.hash };
    }
    rows = await rowsAfter(read, last.seq);
  }
  const first = last.seq + 1;
  if (first === end.seq) return broken(first, `row ${first} is missing`);
  if (first < end.seq) return broken(first, `rows ${first} to ${end.seq} are missing`);
  if (last.seq > 0 && (await readHead(read, pepper)).seq === 0)
    return broken(last.seq, "the record of the log's end is missing");
  if (known && known.seq > last.seq)
    return broken(last.seq, `the log ends at ${last.seq}, but once had ${known.seq} rows`);
  return { verdict: "whole", head: last };
}

/** Sorted by number, including forged numbers below 1. */
const rowsAfter = (read: Kysely<Schema>, seq?: number): Promise<AuditRow[]> => {
  const rows = read.selectFrom("audit_log").selectAll().orderBy("seq").limit(batch);
  return (seq === undefined ? rows : rows.where("seq", ">", seq)).execute();
};

function faultOf(
  row: AuditRow,
  { last, end }: { last: Head; end: Head },
  pepper: Pepper,
): string | undefined {
  if (row.seq < 1) return `row ${row.seq} was not written by the controller, which numbers from 1`;
  if (row.seq !== last.seq + 1) {
    return last.seq < end.seq
      ? `row ${last.seq + 1} is missing`
      : `the row after row ${last.seq} was not written by the controller, which numbers rows without gaps`;
  }
  if (isSameDigest(row.hash, digestOf(pepper, "audit", last.hash, hashed(row)))) return undefined;
  return `row ${row.seq} is not what was written, or an earlier row was replaced`;
}

function mismatchOf({ seq, hash }: AuditRow, noted: Head | undefined): string | undefined {
  return seq === noted?.seq && hash !== noted.hash
    ? `row ${seq} is not the one that was recorded`
    : undefined;
}

/** A column whose current value must equal the last recorded one. */
interface Column {
  name: string;
  /** A null is recorded too. In other columns a member that was never recorded is 0. */
  isNullable?: true;
  /** Condition for rows in which the column decides on access. */
  if?: string;
}

/** A table whose relevant changes must all be in the audit log. */
interface Recorded {
  what: "user" | "key" | "device";
  made: AuditCode;
  gone?: AuditCode;
  columns: readonly Column[];
}

const recorded: readonly Recorded[] = [
  {
    what: "user",
    made: "user.created",
    gone: "user.deleted",
    columns: ["role", "status", ...userFlags].map((name) => ({ name })),
  },
  {
    what: "key",
    made: "key.created",
    columns: [
      { name: "scopes" },
      { name: "disabled" },
      { name: "owner", isNullable: true },
      { name: "expires_at", isNullable: true },
      { name: "previous_until", isNullable: true, if: "revoked_at is null" },
    ],
  },
  {
    what: "device",
    made: "device.enrolled",
    gone: "device.deleted",
    columns: [
      { name: "state" },
      // The deletion of a user removes their assignments without a row for each device.
      { name: "assigned_to_user", isNullable: true, if: "assigned_to_user is not null" },
    ],
  },
];

/** Finds the first change of access made directly by SQL. Each statement reads one snapshot, so writers may continue. */
async function findUnrecorded(kind: DatabaseKind, read: Kysely<Schema>): Promise<string | undefined> {
  for (const each of recorded) {
    const added = await firstOf(read, unrecordedOf(each));
    if (added !== undefined) return `${each.what} ${added} is in the database, but not in the log`;
    const removed = await firstOf(read, removedOf(each));
    if (removed !== undefined)
      return `${each.what} ${removed} was removed from the database, but not in the log`;
    for (const column of each.columns) {
      const id = await firstOf(read, changedOf(kind, each, column));
      if (id !== undefined) return `${each.what} ${id} differs in ${column.name} from what the log recorded`;
    }
  }
  const valid = await firstOf(read, sql`select id from keys where revoked_at is null and ${isRevoked}`);
  if (valid !== undefined) return `key ${valid} is in force, but the log records that it was revoked`;
  const ended = await firstOf(
    read,
    sql`select id from keys where revoked_at is not null and not ${isRevoked}`,
  );
  if (ended !== undefined) return `key ${ended} is revoked, but not in the log`;
  const serial = await firstOf(read, decidedOf(kind));
  return serial === undefined
    ? undefined
    : `the decision on serial number ${serial} is not what the log recorded`;
}

async function firstOf(read: Kysely<Schema>, query: RawBuilder<{ id: string }>): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`select id from (${query}) as found limit 1`.execute(read);
  return rows[0]?.id;
}

/** True if the thing of an audit row was deleted after that row; its id may have been used again. */
const deletedAfter = ({ gone }: Recorded) =>
  gone === undefined
    ? sql`false`
    : sql`exists (select 1 from audit_log as ending where ending.target_id = beginning.target_id
        and ending.code = ${gone} and ending.seq > beginning.seq)`;

const tableOf = ({ what }: Recorded) => sql.table(`${what}s`);

const unrecordedOf = (each: Recorded) => sql<{ id: string }>`
  select id from ${tableOf(each)} as thing
  where not exists (select 1 from audit_log as beginning
    where target_id = thing.id and code = ${each.made} and not ${deletedAfter(each)})`;

const removedOf = (each: Recorded) => sql<{ id: string }>`
  select target_id as id from audit_log as beginning where code = ${each.made}
    and not exists (select 1 from ${tableOf(each)} where id = beginning.target_id)
    and not ${deletedAfter(each)}`;

/** The last recorded value of a member, as text. Rows that do not have the member did not change it. */
function lastOf(kind: DatabaseKind, what: string, id: string, member: string): RawBuilder<string> {
  const after = kind === "sqlite" ? sql`"after"` : sql`"after"::json`;
  return sql`(select cast(${after} ->> ${sql.lit(member)} as text) from audit_log
    where target_id = ${sql.ref(id)} and target_kind = ${what} and (${after} -> ${sql.lit(member)}) is not null
    order by seq desc limit 1)`;
}

function changedOf(
  kind: DatabaseKind,
  each: Recorded,
  { name, isNullable, if: condition = "true" }: Column,
): RawBuilder<{ id: string }> {
  const last = lastOf(kind, each.what, "thing.id", name);
  const value = isNullable
    ? last
    : sql`case ${last} when 'true' then '1' when 'false' then '0' else coalesce(${last}, '0') end`;
  return sql`select id from ${tableOf(each)} as thing
    where ${sql.raw(condition)} and cast(${sql.ref(name)} as text) is distinct from ${value}`;
}

/** A key is revoked by itself, or with the user who owns it. */
const isRevoked = sql`(exists (select 1 from audit_log where target_id = keys.id and code = 'key.revoked')
  or exists (select 1 from audit_log as made join audit_log as ending on ending.seq > made.seq
    where made.target_id = keys.id and made.code = 'key.created'
      and ending.target_id = keys.owner and ending.code = 'user.deleted'))`;

/** Decisions that can accept a device. A rejection may also come from a device, whose state is compared. */
const decidedOf = (kind: DatabaseKind) => sql<{ id: string }>`
  select serial_key as id from serials where enforce_state <> 'rejected'
    and (enforce_state is distinct from ${lastOf(kind, "serial", "serials.serial_key", "enforce_state")}
      or device_id is distinct from ${lastOf(kind, "serial", "serials.serial_key", "device_id")})`;
