import { type Kysely, PostgresAdapter, sql } from "kysely";
import { digestOf, isSameDigest, type Pepper } from "../secrets.ts";
import type { AuditCode } from "./audit-codes.ts";
import { itemsOf, prepared } from "./prepared.ts";
import type { AuditRow, DatabaseKind, Schema } from "./schema.ts";

export interface Actor {
  /** `host`: an operating system account on the controller's machine. */
  kind: "key" | "token" | "user" | "device" | "host" | "nobody";
  id: string | null;
  name: string | null;
  ip: string | null;
  request: string | null;
}

export interface AuditEntry {
  code: AuditCode;
  target?: { kind: "device" | "user" | "key" | "serial"; id: string };
  before?: object;
  after?: object;
}

/** Codes that change a device; `GET events` streams these. */
export const deviceCodes: readonly AuditCode[] = [
  "device.enrolled",
  "device.state",
  "device.renamed",
  "device.assigned",
  "device.deleted",
  "device.imported",
];

/** Key of the head in `meta`. */
export const head = "audit_head";
const none = "";

/** End of the hash chain, from which the next row's hash is computed. */
export interface Head {
  seq: number;
  hash: string;
}

/** JSON of the hashed fields of a row, in order. */
export const hashed = (row: Omit<AuditRow, "hash">): string =>
  JSON.stringify([
    row.seq,
    row.at,
    row.actor_kind,
    row.actor_id,
    row.actor_name,
    row.ip,
    row.request_id,
    row.code,
    row.target_kind,
    row.target_id,
    row.before,
    row.after,
  ]);

export interface Recorded {
  entry: AuditEntry;
  actor: Actor;
  at: string;
}

/** Chains rows by an HMAC with the pepper, each to the one before. Only in `Database.write`, which serializes writers. */
export function appendAuditEntries(
  transaction: Kysely<Schema>,
  pepper: Pepper,
  last: StoredHead,
  entries: readonly Recorded[],
): Promise<unknown>[] {
  if (entries.length === 0) return [];
  // If the stored head was tampered with, the new rows must not verify either.
  let { seq, hash } = last.isSigned ? last : { ...last, hash: `${last.hash} changed` };
  const rows = entries.map((entry) => {
    const row = rowOf(entry, ++seq);
    hash = digestOf(pepper, "audit", hash, hashed(row));
    return [...Object.values(row), hash];
  });
  const [json, value] = [JSON.stringify(rows), signedHead(pepper, { seq, hash })];
  if (last.seq === 0)
    return [
      insertRows(transaction, json),
      transaction.insertInto("meta").values({ key: head, value }).execute(),
    ];
  return transaction.getExecutor().adapter instanceof PostgresAdapter
    ? [insertRowsAndHead(transaction, json, value)]
    : [insertRows(transaction, json), setHead(transaction, value)];
}

function rowOf({ entry, actor, at }: Recorded, seq: number): Omit<AuditRow, "hash"> {
  const { code, target, before, after } = entry;
  return {
    seq,
    at,
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    ip: actor.ip,
    request_id: actor.request,
    code,
    target_kind: target?.kind ?? null,
    target_id: target?.id ?? null,
    before: before ? JSON.stringify(before) : null,
    after: after ? JSON.stringify(after) : null,
  };
}

/** In the order of `rowOf`. */
const columns = sql.raw(
  'seq, at, actor_kind, actor_id, actor_name, ip, request_id, code, target_kind, target_id, "before", "after", hash',
);

/** Appends any number of rows, which are passed as one JSON text. */
const rowsOf = (kind: DatabaseKind, json: string) => {
  const texts = Array.from({ length: 12 }, (_, index) => sql`value ->> ${sql.lit(index + 1)}`);
  return sql`insert into audit_log (${columns})
    select cast(value ->> 0 as bigint), ${sql.join(texts)} from ${itemsOf(kind, json)}`;
};
const headTo = (value: string) => sql`update meta set value = ${value} where key = ${sql.lit(head)}`;

const insertRows = prepared(({ kind }, json: string) => rowsOf(kind, json));
const setHead = prepared((_, value: string) => headTo(value));
/** Only PostgreSQL has a statement that changes two tables. */
const insertRowsAndHead = prepared(
  ({ kind }, json: string, value: string) => sql`with appended as (${rowsOf(kind, json)}) ${headTo(value)}`,
);
const readHeadRow = prepared(({ database }, key: string) =>
  database.selectFrom("meta").select("value").where("key", "=", key),
);

/** isSigned: whether the MAC is valid. */
type StoredHead = Head & { isSigned: boolean };

export const readHead = async (read: Kysely<Schema>, pepper: Pepper): Promise<StoredHead> =>
  headOf(pepper, (await readHeadRow(read, head))[0]?.value);

/** The stored head; an empty log has number 0 and no hash. */
export function headOf(pepper: Pepper, value: string | null = null): StoredHead {
  if (value === null) return { seq: 0, hash: none, isSigned: true };
  const [number = "", hash = ""] = value.split(" ");
  const seq = Number(number);
  return { seq, hash, isSigned: isSameDigest(value, signedHead(pepper, { seq, hash })) };
}

const signedHead = (pepper: Pepper, { seq, hash }: Head): string =>
  `${seq} ${hash} ${digestOf(pepper, "audit", "head", String(seq), hash)}`;
