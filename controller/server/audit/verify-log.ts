import type { Kysely } from "kysely";
import { digestOf, isSameDigest, type Pepper } from "../secrets.ts";
import { findMissingGuard } from "../store/audit-guards.ts";
import { type Head, hashed, readHead } from "../store/audit-log.ts";
import type { Database } from "../store/database.ts";
import type { AuditRow, Schema } from "../store/schema.ts";
import { findUnrecorded } from "./unrecorded.ts";

/** seq: the row at which the chain breaks; 0: no single row. */
export type LogVerdict = { verdict: "whole"; head: Head } | { verdict: "broken"; seq: number; why: string };

interface Broken {
  seq: number;
  why: string;
}

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
  const { broken, head } = await walk(read, pepper, known);
  if (broken) return { verdict: "broken", ...broken };
  const why = (await findMissingGuard(kind, read)) ?? (await findUnrecorded(kind, read));
  return why === undefined ? { verdict: "whole", head } : { verdict: "broken", seq: 0, why };
}

const batch = 1000;
const emptyHead: Head = { seq: 0, hash: "" };

async function walk(
  read: Kysely<Schema>,
  pepper: Pepper,
  known: Head | undefined,
): Promise<{ broken?: Broken; head: Head }> {
  // The head is read first, so that rows written meanwhile come after it and are verified too.
  const { isSigned, ...end } = await readHead(read, pepper);
  if (!isSigned) {
    const why = "the record of the log's end was changed, or the pepper is a different one";
    return { broken: { seq: end.seq, why }, head: emptyHead };
  }
  let last = emptyHead;
  let rows = await rowsAfter(read);
  while (rows.length > 0) {
    for (const row of rows) {
      const why = faultOf(row, { last, end }, pepper) ?? mismatchOf(row, end) ?? mismatchOf(row, known);
      if (why !== undefined) return { broken: { seq: Math.min(row.seq, last.seq + 1), why }, head: last };
      last = { seq: row.seq, hash: row.hash };
    }
    rows = await rowsAfter(read, last.seq);
  }
  const broken = await faultOfEnd(read, pepper, { last, end, known });
  return { ...(broken && { broken }), head: last };
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

async function faultOfEnd(
  read: Kysely<Schema>,
  pepper: Pepper,
  { last, end, known }: { last: Head; end: Head; known: Head | undefined },
): Promise<Broken | undefined> {
  if (last.seq < end.seq) return { seq: last.seq + 1, why: `rows ${last.seq + 1} to ${end.seq} are missing` };
  if (last.seq > 0 && (await readHead(read, pepper)).seq === 0)
    return { seq: last.seq, why: "the record of the log's end is missing" };
  if (known && known.seq > last.seq)
    return { seq: last.seq, why: `the log ends at ${last.seq}, but once had ${known.seq} rows` };
  return undefined;
}
