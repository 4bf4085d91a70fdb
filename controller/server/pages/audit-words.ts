import type { Failure } from "../auth/authenticate.ts";
import type { AuditCode } from "../store/audit-log.ts";
import { scopeTexts } from "./keys-page.ts";
import { flagNames, roleNames } from "./user-fields.ts";
import { minuteOf } from "./words.ts";

/** Kinds of events, for the filter. */
export const eventNames: Readonly<Record<AuditCode, string>> = {
  "device.enrolled": "Device enrolled",
  "device.state": "Device accepted or rejected",
  "device.renamed": "Device renamed",
  "device.assigned": "Device assigned",
  "device.deleted": "Device deleted",
  "device.imported": "Device imported",
  "device.token": "Device token issued",
  "serial.decided": "Serial number decided",
  "key.created": "API key created",
  "key.updated": "API key changed",
  "key.rotated": "API key got a new secret",
  "key.revoked": "API key revoked",
  "user.created": "User added",
  "user.updated": "User changed",
  "user.deleted": "User deleted",
  "user.password": "Password changed",
  "session.opened": "Signed in",
  "session.closed": "Signed out",
  "auth.failed": "Credentials refused",
  "enrolment.full": "Enrolment refused",
  "database.restored": "Database restored",
};

export const failureTexts: Readonly<Record<Failure, string>> = {
  malformed: "the credentials could not be read",
  unknown: "the name or id is unknown",
  wrong: "the password or secret was wrong",
  expired: "the credentials had expired",
  disabled: "the user or key is disabled",
  revoked: "the key is revoked",
  braked: "there were too many attempts",
};

const labels: Record<string, string> = {
  state: "Status",
  name: "Name",
  email: "Email address",
  username: "User name",
  serial: "Serial number",
  reason: "Reason",
  role: "Role",
  status: "Status",
  expires_at: "Expires",
  previous_until: "Old secret works until",
  scopes: "Rights",
  more: "Note",
  from: "Backup",
  rows: "Rows in the log",
  enforce_state: "Decision",
  device_id: "Device",
  ...Object.fromEntries(Object.entries(flagNames).map(([flag, text]) => [flag, `Right (${text})`])),
};

/** A member name in words; a newer relcat may have recorded others. */
export const labelOf = (name: string): string =>
  labels[name] ?? name.replace(/[._]/g, " ").replace(/^./, (letter) => letter.toUpperCase());

const isMoment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** A recorded value in words. */
export function valueIn(name: string, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (name.startsWith("authz_") || name === "disabled") return value === 1 || value === true ? "yes" : "no";
  if (Array.isArray(value)) return value.map((each) => textOf(scopeTexts, each)).join(", ");
  if (typeof value === "object") return JSON.stringify(value);
  if (name === "role") return textOf(roleNames, value);
  const text = String(value);
  return isMoment.test(text) ? minuteOf(text) : text;
}

export const textOf = (texts: Readonly<Record<string, string>>, value: unknown): string =>
  texts[String(value)] ?? String(value);
