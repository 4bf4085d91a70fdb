import type { z } from "zod";
import type { auditSchema } from "../audit/audit-documents.ts";
import { may } from "./ask.ts";
import { personOf } from "./user-fields.ts";
import type { SignedIn } from "./visit.ts";

export type AuditEntry = z.infer<typeof auditSchema>["audit_log"][number];

/** A part of a sentence: text, or the name of a device, user, key or serial number. */
export interface Part {
  text: string;
  isName: boolean;
  /** Full id of what has this name, or "". */
  id: string;
  /** Its page, or "" if the visitor cannot open one. */
  href: string;
}
export type Names = ReadonlyMap<string, Part>;

/**
 * Names of everything that the rows mention. They need no other right than to read the log, which records
 * them.
 */
export async function namesOf(visit: SignedIn, entries: readonly AuditEntry[]): Promise<Names> {
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
    ...users.map((user) => [user.id, personOf(user), link(canRead.user, `/users/${user.id}`)]),
    ...keys.map(({ id, name, owner }) => [id, name, link(canRead.key && owner === null, `/keys/${id}`)]),
  ] as const;
  return new Map(named.map(([id, text, href]) => [id ?? "", partOf(id ?? "", text, href)]));
}

/** A name; the beginning of the id for something without a name. */
export const partOf = (id: string, text: string | null = null, href: string | null = ""): Part => ({
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
export const serialName = (key: string): string => `serial ${key}`;

/** Serial numbers as their devices or decisions spell them; the log has them normalized. */
async function serialNames({ controller: { database } }: SignedIn, keys: readonly string[]) {
  const [decided, reported] = await Promise.all([
    database.read
      .selectFrom("serials")
      .select(["serial_key", "serial"])
      .where("serial_key", "in", keys)
      .execute(),
    database.read
      .selectFrom("devices")
      .select(["serial_key", "serial"])
      .where("serial_key", "in", keys)
      .execute(),
  ]);
  return [...reported, ...decided].map(
    ({ serial_key, serial }) => [serialName(serial_key ?? ""), serial, ""] as const,
  );
}

const shortOf = (id: string): string => id.replace(/^([0-9a-f]{8})-[0-9a-f-]{27}$/, "$1");
