import type { AuditCode } from "../store/audit-log.ts";
import { may } from "./ask.ts";
import { type AuditEntry, namesOf } from "./audit-names.ts";
import { sentenceOf } from "./audit-sentences.ts";
import { labelOf, valueIn } from "./audit-words.ts";
import type { SignedIn } from "./visit.ts";
import { momentOf } from "./words.ts";

/** Rows of history on the page of a device or user. */
const longestHistory = "200";

/** History of a device or user, for those who may read the log. */
export async function historyOf(visit: SignedIn, id: string) {
  if (!may(visit.me, "listAudit")) return { isForbiddenHistory: true, history: [] };
  const { body } = await visit.ask<{ audit_log: AuditEntry[] }>("listAudit", {
    query: { target: id, limit: longestHistory },
  });
  return { isForbiddenHistory: false, history: await auditRows(visit, body.audit_log) };
}

/** Rows as a person reads them. */
export async function auditRows(visit: SignedIn, entries: readonly AuditEntry[]) {
  const names = await namesOf(visit, entries);
  return entries.map((entry) => {
    const { parts, said } = sentenceOf(entry, names);
    return {
      at: momentOf(entry.at, visit.now),
      ...actorOf(entry),
      parts,
      changes: changesOf(entry).filter(({ member }) => !said.includes(member)),
    };
  });
}

const kinds: Readonly<Record<AuditEntry["actor"]["kind"], string>> = {
  key: "API key",
  token: "token",
  device: "device",
  host: "on the controller's machine",
};

function actorOf({ actor }: AuditEntry) {
  const { kind, name, id, ip } = actor;
  const known = name ?? id ?? (kind === "nobody" ? "unknown sender" : "without a name");
  return { actor: known, actorKind: kinds[kind] ?? "", ip: ip ?? "" };
}

/** Changed members, before and after. */
function changesOf({ code, before, after }: AuditEntry) {
  const [was, is] = [before ?? {}, after ?? {}];
  // A decision about a state says what the state was; a new thing was nothing before.
  const isNew = (
    ["device.enrolled", "user.created", "key.created"] satisfies AuditCode[] as string[]
  ).includes(code);
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .map((member) => ({
      member,
      name: labelOf(member),
      from: isNew ? "" : valueIn(member, was[member]),
      to: valueIn(member, is[member]),
    }))
    .filter(({ from, to }) => from !== to);
}
