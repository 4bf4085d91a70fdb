import { type Kysely, sql } from "kysely";
import { digestOf, isSameDigest, type Pepper } from "../secrets.ts";
import { itemsOf, prepared } from "./prepared.ts";
import type { AuditRow, Schema } from "./schema.ts";

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

/** Stable codes, because scripts compare them. */
export type AuditCode =
  | "device.enrolled"
  | "device.state"
  | "device.renamed"
  | "device.assigned"
  | "device.deleted"
  | "device.imported"
  | "device.token"
  | "serial.decided"
  | "key.created"
  | "key.updated"
  | "key.rotated"
  | "key.revoked"
  | "user.created"
  | "user.updated"
  | "user.deleted"
  | "user.password"
  | "session.opened"
  | "session.closed"
  | "auth.failed"
  | "enrolment.full"
  | "database.restored";

/** Codes that change a device; `GET events` streams these. */
export const deviceCodes: readonly AuditCode[] = [
  "device.enrolled",
  "device.state",
  "device.renamed",
  "device.assigned",
  "device.deleted",
  "device.imported",
];

const head = "audit_head";
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

/**
 * Appends rows, each chained to the previous one by an HMAC keyed with the pepper. Only inside
 * `Database.write`, which serializes writers.
 */
export async function appendAuditEntries(
  transaction: Kysely<Schema>,
  { pepper, at, actor }: { pepper: Pepper; at: string; actor: Actor },
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const last = await readHead(transaction, pepper);
  // If the stored head was tampered with, the new rows must not verify either.
  let { seq, hash } = last.isSigned ? last : { ...last, hash: `${last.hash} changed` };
  const rows = entries.map((entry) => {
    const row = rowOf(entry, actor, ++seq, at);
    hash = digestOf(pepper, "audit", hash, hashed(row));
    return [seq, row.code, row.target_kind, row.target_id, row.before, row.after, hash];
  });
  const json = JSON.stringify(rows);
  const { kind, id, name, ip, request } = actor;
  await insertRows(transaction, json, at, kind, id, name, ip, request);
  const value = signedHead(pepper, { seq, hash });
  const isFirst = last.seq === 0;
  if (isFirst) await transaction.insertInto("meta").values({ key: head, value }).execute();
  else await setHead(transaction, head, value);
}

function rowOf(
  { code, target, before, after }: AuditEntry,
  { kind, id, name, ip, request }: Actor,
  seq: number,
  at: string,
): Omit<AuditRow, "hash"> {
  return {
    seq,
    at,
    actor_kind: kind,
    actor_id: id,
    actor_name: name,
    ip,
    request_id: request,
    code,
    target_kind: target?.kind ?? null,
    target_id: target?.id ?? null,
    before: before ? JSON.stringify(before) : null,
    after: after ? JSON.stringify(after) : null,
  };
}

/** Fields that differ between the rows of one transaction. */
const own = ["seq", "code", "target_kind", "target_id", "before", "after", "hash"] as const;

/** A single statement for any number of rows: the differing fields are passed as one JSON text. */
const insertRows = prepared(
  (
    { kind },
    json: string,
    at: string,
    actorKind: string,
    id: string | null,
    name: string | null,
    ip: string | null,
    request: string | null,
  ) => {
    const [seq, ...others] = own.map((_, index) => sql`value ->> ${sql.lit(index)}`);
    return sql`
      insert into audit_log (${sql.join(own.map((each) => sql.ref(each)))}, at, actor_kind, actor_id, actor_name, ip, request_id)
      select cast(${seq} as bigint), ${sql.join(others)}, ${at}, ${actorKind}, ${id}, ${name}, ${ip}, ${request} from ${itemsOf(kind, json)}`;
  },
);

const readHeadRow = prepared(({ database }, key: string) =>
  database.selectFrom("meta").select("value").where("key", "=", key),
);
const setHead = prepared(({ database }, key: string, value: string) =>
  database.updateTable("meta").set({ value }).where("key", "=", key),
);

/** The stored head, and whether its MAC is valid; an empty log has number 0 and no hash. */
export async function readHead(read: Kysely<Schema>, pepper: Pepper): Promise<Head & { isSigned: boolean }> {
  const [row] = await readHeadRow(read, head);
  if (!row) return { seq: 0, hash: none, isSigned: true };
  const [number = "", hash = ""] = row.value.split(" ");
  const seq = Number(number);
  return { seq, hash, isSigned: isSameDigest(row.value, signedHead(pepper, { seq, hash })) };
}

const signedHead = (pepper: Pepper, { seq, hash }: Head): string =>
  `${seq} ${hash} ${digestOf(pepper, "audit", "head", String(seq), hash)}`;
