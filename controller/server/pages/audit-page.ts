import type { ServerAnswer } from "../../../service/http/request.ts";
import { eventNames } from "../audit/describe.ts";
import { type AuditEntry, auditRows } from "./audit-rows.ts";
import { fieldOf } from "./form.ts";
import { page, type SignedIn } from "./visit.ts";

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
    events: eventsOf(code),
    target: target ?? "",
    isFiltered: code !== undefined || target !== undefined,
    rows: await auditRows(visit, rows),
    newer:
      newest !== undefined && (before !== undefined || after !== undefined)
        ? link({ after: String(newest) })
        : "",
    older: oldest !== undefined && oldest > 1 && !isEnd ? link({ before: String(oldest) }) : "",
    first: before !== undefined || after !== undefined ? link({}) : "",
  });
}

/** The filter's choices; a code from elsewhere stays chosen. */
function eventsOf(chosen: string | undefined) {
  const names = Object.entries(eventNames).map(([code, text]) => ({ code, text }));
  const isOther = chosen !== undefined && !Object.hasOwn(eventNames, chosen);
  return [
    { code: "", text: "All events" },
    ...names,
    ...(isOther ? [{ code: chosen, text: chosen }] : []),
  ].map((event) => ({ ...event, selected: event.code === (chosen ?? "") }));
}
