import type { Failure } from "../server/auth/authenticate.ts";
import type { AuditCode } from "../server/store/audit-log.ts";

const actions: Readonly<Record<AuditCode, string>> = {
  "device.enrolled": "device enrolled",
  "device.state": "device state changed",
  "device.renamed": "device renamed",
  "device.assigned": "device assigned",
  "device.deleted": "device deleted",
  "device.imported": "device imported",
  "device.token": "device token issued",
  "serial.decided": "serial number decided",
  "key.created": "API key created",
  "key.updated": "API key changed",
  "key.rotated": "API key rotated",
  "key.revoked": "API key revoked",
  "user.created": "user added",
  "user.updated": "user changed",
  "user.deleted": "user deleted",
  "user.password": "password changed",
  "session.opened": "signed in",
  "session.closed": "signed out",
  "auth.failed": "credentials refused",
  "enrolment.full": "enrolment refused",
  "database.restored": "database restored",
};

const failures: Readonly<Record<Failure, string>> = {
  malformed: "malformed",
  unknown: "unknown id or name",
  wrong: "wrong secret or password",
  expired: "expired",
  disabled: "disabled",
  revoked: "revoked",
  braked: "too many attempts",
};

/** The action in words. A newer controller may have other codes, which are shown unchanged. */
export const actionWords = (code: string): string => actions[code as AuditCode] ?? code;

/** A changed value. Codes are translated into words. */
export const valueWords = (code: string, member: string, value: string): string =>
  (code === "auth.failed" && member === "reason" && failures[value as Failure]) || value;

/** Name of a member, such as `enforce_state`, in words. */
export const memberWords = (name: string): string =>
  name === "enforce_state" ? "state" : name.replaceAll("_", " ");
