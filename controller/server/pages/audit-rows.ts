import type { ServerAnswer } from "../../../service/http/request.ts";
import { nameOfUser } from "../access.ts";
import { changesOf, eventOf } from "../audit/describe.ts";
import type { AnswerOf } from "../contracts.ts";
import { type AuditCode, eventNames } from "../store/audit-codes.ts";
import { fieldOf } from "./form.ts";
import { may, page, type SignedIn } from "./visit.ts";
import { momentOf } from "./words.ts";

type AuditEntry = AnswerOf<"listAudit">["audit_log"][number];

/** Rows of history on the page of a device or user. */
const maxHistoryRows = "200";

/** History of a device or user, for those who may read the log. */
export async function historyOf(visit: SignedIn, id: string) {
  if (!may(visit.me, "listAudit")) return { isForbiddenHistory: true, history: [] };
  const { body } = await visit.ask("listAudit", { query: { target: id, limit: maxHistoryRows } });
  return { isForbiddenHistory: false, history: await auditRows(visit, body.audit_log) };
}

async function auditRows(visit: SignedIn, entries: readonly AuditEntry[]) {
  const names = await namesOf(visit, entries);
  return entries.map((entry) => ({
    at: momentOf(entry.at, visit.now),
    ...actorOf(entry),
    event: eventOf(entry.code),
    target: targetOf(names, entry),
    changes: changesIn(entry, names),
  }));
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

function targetOf(names: Names, { target }: AuditEntry): Part | null {
  if (target === null) return null;
  const { kind, id } = target;
  return kind === "serial" ? (names.get(serialName(id)) ?? partOf(id, id)) : nameOf(names, id);
}

const nameOf = (names: Names, id: string): Part => names.get(id) ?? partOf(id);

/** A decision about a state says what the state was; a new thing was nothing before. */
const newThings = ["device.enrolled", "user.created", "key.created"] satisfies AuditCode[] as string[];

/** Changed members, before and after, with the names of users instead of their ids. */
function changesIn(entry: AuditEntry, names: Names) {
  const before = newThings.includes(entry.code) ? null : entry.before;
  return changesOf({ ...entry, before }).map(({ member, label, from, to }) => {
    const shown = (value: string): Part | null =>
      value === ""
        ? null
        : member === "assigned_to_user" || member === "owner"
          ? nameOf(names, value)
          : { text: value, isName: false, id: "", href: "" };
    return { label, from: shown(from), to: shown(to) };
  });
}

/** A text, or the name of a device, user, key or serial number. */
interface Part {
  text: string;
  isName: boolean;
  /** Full id of what has this name, or "". */
  id: string;
  /** Its page, or "" if the visitor cannot open one. */
  href: string;
}
type Names = ReadonlyMap<string, Part>;

/** Names of everything that the rows mention. Readers of the log may read them, because the log records them. */
async function namesOf(visit: SignedIn, entries: readonly AuditEntry[]): Promise<Names> {
  const ids = [...new Set(entries.flatMap(idsIn))];
  if (ids.length === 0) return new Map();
  const { database } = visit.controller;
  const [gone, devices, users, keys, serials] = await Promise.all([
    goneNames(visit, ids),
    database.read.selectFrom("devices").select(["id", "name", "serial"]).where("id", "in", ids).execute(),
    database.read.selectFrom("users").select(["id", "email", "username"]).where("id", "in", ids).execute(),
    database.read.selectFrom("keys").select(["id", "name", "owner"]).where("id", "in", ids).execute(),
    serialNames(visit, ids),
  ]);
  const link = (isOpen: boolean, path: string) => (isOpen ? path : "");
  const canRead = {
    device: may(visit.me, "readDevice"),
    user: may(visit.me, "readUser"),
    key: may(visit.me, "listApiKeys"),
  };
  const named = [
    ...gone,
    ...serials,
    ...devices.map(({ id, name, serial }) => [id, name ?? serial, link(canRead.device, `/devices/${id}`)]),
    ...users.map((user) => [user.id, nameOfUser(user), link(canRead.user, `/users/${user.id}`)]),
    ...keys.map(({ id, name, owner }) => [id, name, link(canRead.key && owner === null, `/keys/${id}`)]),
  ] as const;
  return new Map(named.map(([id, text, href]) => [id ?? "", partOf(id ?? "", text, href)]));
}

/** A name; the beginning of the id for something without a name. */
const partOf = (id: string, text: string | null = null, href: string | null = ""): Part => ({
  text: text ?? shortOf(id),
  isName: true,
  id,
  href: href ?? "",
});

function idsIn({ target, before, after }: AuditEntry): string[] {
  const mentioned = [before, after].flatMap((values) => [values?.assigned_to_user, values?.owner]);
  const ids = mentioned.filter((id): id is string => typeof id === "string");
  return target ? [target.id, ...ids] : ids;
}

/** Names of deleted devices and users, from the rows of their deletion. */
async function goneNames({ controller: { database } }: SignedIn, ids: readonly string[]) {
  const rows = await database.read
    .selectFrom("audit_log")
    .select(["target_id", "before"])
    .where("target_id", "in", ids)
    .where("code", "in", ["device.deleted", "user.deleted"])
    .execute();
  return rows.map(({ target_id, before }) => {
    const { name, serial, email, username } = JSON.parse(before ?? "{}");
    return [target_id, email ?? username ?? name ?? serial ?? null, ""] as const;
  });
}

/** Key of a serial number in the map. Devices choose these numbers, so one may equal another device's id. */
const serialName = (key: string): string => `serial ${key}`;

/** Serial numbers as their devices or decisions spell them; the log has them normalized. */
async function serialNames({ controller: { database } }: SignedIn, keys: readonly string[]) {
  const readFrom = (table: "serials" | "devices") =>
    database.read
      .selectFrom(table)
      .select(["serial_key", "serial"])
      .where("serial_key", "in", keys)
      .execute();
  const [decided, reported] = await Promise.all([readFrom("serials"), readFrom("devices")]);
  return [...reported, ...decided].map(
    ({ serial_key, serial }) => [serialName(serial_key ?? ""), serial, ""] as const,
  );
}

const shortOf = (id: string): string => id.replace(/^([0-9a-f]{8})-[0-9a-f-]{27}$/, "$1");

const pageSize = 100;

/** `GET /audit`: newest first, a hundred rows per page. */
export async function auditPage(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, url } = visit;
  const [code, target] = [fieldOf(url.searchParams, "code"), fieldOf(url.searchParams, "target")];
  const before = fieldOf(url.searchParams, "before");
  const after = before === undefined ? fieldOf(url.searchParams, "after") : undefined;
  const query = { code, target, before, after, limit: String(pageSize) };
  const { body } = await ask("listAudit", { query });
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
