import type { z } from "zod";
import type { Answer, Call } from "../call.ts";
import type { AuditRow } from "../store/schema.ts";
import type { auditQuerySchema, auditSchema } from "./audit-documents.ts";

type Query = z.infer<typeof auditQuerySchema>;

const usualLimit = 100;

/** `GET audit_log`: newest first; with `after` oldest first, so that a client can resume. */
export async function listAudit({
  controller: { database },
  query,
}: Call<undefined, Query>): Promise<Answer> {
  const { target, code, after, before, limit } = query;
  let found = database.read.selectFrom("audit_log").selectAll();
  if (target !== undefined) found = found.where("target_id", "=", target);
  if (code !== undefined) found = found.where("code", "=", code);
  if (after !== undefined) found = found.where("seq", ">", Number(after));
  if (before !== undefined) found = found.where("seq", "<", Number(before));
  const rows = await found
    .orderBy("seq", after === undefined ? "desc" : "asc")
    .limit(Number(limit ?? usualLimit))
    .execute();
  return { status: 200, body: { audit_log: rows.map(auditRowOf) } };
}

export const auditRowOf = (row: AuditRow): z.infer<typeof auditSchema>["audit_log"][number] => ({
  seq: row.seq,
  at: row.at,
  actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, ip: row.ip },
  request_id: row.request_id,
  code: row.code,
  target:
    row.target_kind === null || row.target_id === null ? null : { kind: row.target_kind, id: row.target_id },
  before: row.before === null ? null : JSON.parse(row.before),
  after: row.after === null ? null : JSON.parse(row.after),
  hash: row.hash,
});
