import type { z } from "zod";
import type { ServerAnswer } from "../../http/request.ts";
import type { auditSchema } from "../audit/audit-documents.ts";
import { fieldOf } from "./form.ts";
import { page, type SignedIn } from "./visit.ts";
import { labelOf, momentOf } from "./words.ts";

export type AuditEntry = z.infer<typeof auditSchema>["audit_log"][number];

const pageSize = 100;

/** `GET /audit`: newest first, a hundred rows per page. */
export async function auditPage(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, url } = visit;
  const [code, target] = [fieldOf(url.searchParams, "code"), fieldOf(url.searchParams, "target")];
  const before = fieldOf(url.searchParams, "before");
  const after = before === undefined ? fieldOf(url.searchParams, "after") : undefined;
  const { body } = await ask<{ audit_log: AuditEntry[] }>("listAudit", {
    query: { code, target, before, after, limit: String(pageSize) },
  });
  // With `after`, the API returns the oldest rows first.
  const rows = after === undefined ? body.audit_log : body.audit_log.toReversed();
  const link = (more: Record<string, string>) =>
    `/audit?${new URLSearchParams({ ...(code && { code }), ...(target && { target }), ...more })}`;
  const [newest, oldest] = [rows[0]?.seq, rows.at(-1)?.seq];
  const isEnd = rows.length < pageSize && after === undefined;
  return page(visit, "audit", "Audit log", {
    code: code ?? "",
    target: target ?? "",
    rows: rows.map(entryOf),
    newer:
      newest !== undefined && (before !== undefined || after !== undefined)
        ? link({ after: String(newest) })
        : "",
    older: oldest !== undefined && oldest > 1 && !isEnd ? link({ before: String(oldest) }) : "",
    first: before !== undefined || after !== undefined ? link({}) : "",
  });
}

const pages: Record<string, string> = { device: "/devices", key: "/keys" };

export function entryOf({ seq, at, actor, code, target, before, after }: AuditEntry) {
  const path = pages[target?.kind ?? ""];
  return {
    seq,
    at: momentOf(at),
    actor: actor.name ?? actor.id ?? actor.kind,
    actorKind: actor.name === null && actor.id === null ? "" : actor.kind,
    ip: actor.ip ?? "",
    code,
    target: target?.id ?? "",
    short: target?.id.replace(/^([0-9a-f]{8})-[0-9a-f-]{27}$/, "$1") ?? "",
    targetKind: target?.kind ?? "",
    href: path === undefined || code.endsWith(".deleted") ? "" : `${path}/${target?.id}`,
    changes: changesOf(before ?? {}, after ?? {}),
  };
}

/** Before and after of each changed member. */
function changesOf(before: Record<string, unknown>, after: Record<string, unknown>) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .map((name) => ({ name: labelOf(name), from: wordOf(before[name]), to: wordOf(after[name]) }))
    .filter(({ from, to }) => from !== to);
}

const isMoment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function wordOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string" && isMoment.test(value)) return momentOf(value).text;
  if (Array.isArray(value)) return value.map(wordOf).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
