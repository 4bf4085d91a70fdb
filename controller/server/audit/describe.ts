import type { Failure } from "../auth/authenticate.ts";
import { type AuditCode, eventNames } from "../store/audit-codes.ts";

const failureTexts: Readonly<Record<Failure, string>> = {
  malformed: "the credentials could not be read",
  unknown: "the name or id is unknown",
  wrong: "the password or secret was wrong",
  expired: "the credentials had expired",
  disabled: "the user or key is disabled",
  revoked: "the key is revoked",
  braked: "there were too many attempts",
};

const labels: Readonly<Record<string, string>> = {
  email: "Email address",
  username: "User name",
  serial: "Serial number",
  expires_at: "Expires",
  previous_until: "Old secret works until",
  more: "Note",
  from: "Backup",
  rows: "Rows in the log",
  enforce_state: "Decision",
  device_id: "Device",
};

export interface Entry {
  code: string;
  before: Readonly<Record<string, unknown>> | null;
  after: Readonly<Record<string, unknown>> | null;
}

/** A newer controller may have other codes, which are shown as they are. */
export const eventOf = (code: string): string => eventNames[code as AuditCode] ?? code;

/** Changed members in words, "" for nothing. The id is left out, because it is that of the target. */
export function changesOf({ code, before, after }: Entry) {
  const members = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...members]
    .map((member) => ({
      member,
      label: labelOf(member),
      from: valueIn(code, member, before?.[member]),
      to: valueIn(code, member, after?.[member]),
    }))
    .filter(({ member, from, to }) => from !== to && member !== "id");
}

const labelOf = (member: string): string =>
  labels[member] ??
  member
    .replace(/^authz_(.*)$/, "right ($1)")
    .replace(/[._]/g, " ")
    .replace(/^./, (letter) => letter.toUpperCase());

function valueIn(code: string, member: string, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (member.startsWith("authz_") || member === "disabled")
    return value === 1 || value === true ? "yes" : "no";
  if (Array.isArray(value)) return value.join(" ");
  if (typeof value === "object") return JSON.stringify(value);
  const text = String(value);
  if (code === "auth.failed" && member === "reason") return failureTexts[text as Failure] ?? text;
  if (member === "role") return text.replace(/\BAdministrator/, " Administrator");
  return text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+Z$/, "$1 $2 UTC");
}
