import type { OutputDocument, OutputLine } from "../../cli/output/outputs.ts";
import { table } from "../../cli/terminal/cells.ts";
import { answer, type Host, say, sayNext } from "../../cli/terminal/host.ts";
import { UsageError } from "../../cli/terminal/usage.ts";
import { count } from "../../cli/terminal/words.ts";
import { failure } from "../../shared/errors.ts";
import { changesOf, type Entry, eventOf } from "../server/audit/describe.ts";
import { type ControllerPlace, withApi } from "./api.ts";

export type AuditRow = OutputDocument<"controller-audit-show">["audit_log"][number];
/** A row without what only readers of the whole log may see. */
export type AuditEvent = OutputLine<"devices-watch">;

/** `relcat controller audit verify`: detects changes made outside the controller. */
export async function verifyAuditLog(
  { database, head }: { database?: string; head?: string },
  host: Host,
): Promise<void> {
  if (database === undefined)
    throw new UsageError(
      "the option --database <place> is missing",
      "The log is verified on the controller's machine, because that needs the pepper.",
    );
  const { shownDatabase, withController } = await import("./controller-open.ts");
  const { verifyAudit } = await import("../server/node-host.ts");
  const known = head === undefined ? undefined : readHead(head);
  const verdict = await withController(database, host, (controller) => verifyAudit(controller, known));
  if (verdict.verdict === "broken") {
    throw failure(
      "audit-broken",
      `${shownDatabase(database)} was changed outside the controller: ${verdict.why}`,
      "Keep this database for the investigation, and restore a backup under another name.",
    );
  }
  const { seq, hash } = verdict.head;
  const end = `${seq}:${hash}`;
  answer<"controller-audit-verify">(
    host,
    { rows: seq, head: end },
    () => `The audit log is intact: ${count(seq, "row")}.\n${end}`,
  );
  sayNext(host, "store this line elsewhere; --head LINE later proves that no row before it was removed");
}

function readHead(text: string): { seq: number; hash: string } {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq !== undefined && hash !== undefined) return { seq: Number(seq), hash };
  throw new UsageError(
    `${JSON.stringify(text)} is not valid for --head <line>`,
    "Give a line that relcat controller audit verify printed, SEQ:HASH.",
  );
}

export function showAuditLog(
  options: ControllerPlace & { target?: string; code?: string; limit?: number },
  host: Host,
): Promise<void> {
  const { target, code, limit } = options;
  const query = new URLSearchParams({
    ...(target !== undefined && { target }),
    ...(code !== undefined && { code }),
    ...(limit !== undefined && { limit: String(limit) }),
  });
  return withApi(options, host, async (api) => {
    const { audit_log: rows } = await api.ask<{ audit_log: AuditRow[] }>("GET", `/audit_log?${query}`);
    answer<"controller-audit-show">(host, { audit_log: rows }, () => auditTable(rows));
    if (rows.length === 0) say(host, "No row of the audit log matches.");
  });
}

const heading = ["ROW", "TIME (UTC)", "BY", "WHAT", "TARGET", "CHANGE"];

/** Shows words; --json shows the codes. */
export const auditTable = (rows: readonly AuditRow[]): string =>
  rows.length === 0 ? "" : table([heading, ...rows.map(cellsOf)]);

export const auditLine = (row: AuditEvent): string => table([cellsOf(row)]);

const cellsOf = ({ seq, at, actor, code, target, before, after }: AuditEvent): string[] => [
  String(seq),
  at.slice(0, 19).replace("T", " "),
  [actor.kind, actor.name ?? actor.id ?? "", addressOf(actor)].filter(Boolean).join(" "),
  eventOf(code),
  target ? `${target.kind} ${target.id}` : "",
  changeOf({ code, before, after }),
];

/** Rows of the whole log have it. */
const addressOf = (actor: AuditRow["actor"] | AuditEvent["actor"]) => ("ip" in actor && actor.ip) || "";

const changeOf = (entry: Entry): string =>
  changesOf(entry)
    .map(({ label, from, to }) => `${label}: ${from === "" ? to : `${from} → ${to === "" ? "none" : to}`}`)
    .join(", ");
