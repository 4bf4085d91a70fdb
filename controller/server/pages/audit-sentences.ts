import type { AuditCode } from "../store/audit-log.ts";
import { type AuditEntry, type Names, type Part, partOf, serialName } from "./audit-names.ts";
import { eventNames, failureTexts, textOf } from "./audit-words.ts";
import { roleNames } from "./user-fields.ts";

interface Sentence {
  parts: Part[];
  /** Members of the row that the sentence contains, so that the details omit them. */
  said: readonly string[];
}

/** A row of the log as values, with null for missing ones. */
interface Row {
  /** Name of the row's target. */
  it: Part;
  names: Names;
  isOwn: boolean;
  kind: string;
  before: Readonly<Record<string, unknown>>;
  after: Readonly<Record<string, unknown>>;
}

const text = (value: string): Part => ({ text: value, isName: false, id: "", href: "" });
/** A name without a page. */
const named = (value: unknown): Part => ({ ...text(String(value ?? "without a name")), isName: true });

/** Splits a sentence at its names. */
function say(said: readonly string[], strings: TemplateStringsArray, ...names: readonly Part[]): Sentence {
  const parts = strings.flatMap((string, index) => {
    const name = names[index];
    return [...(string === "" ? [] : [text(string)]), ...(name ? [name] : [])];
  });
  return { parts, said };
}
const saying =
  (...said: string[]) =>
  (strings: TemplateStringsArray, ...names: readonly Part[]) =>
    say(said, strings, ...names);

const plain = saying();

const sentences: Readonly<Record<AuditCode, (row: Row) => Sentence>> = {
  "device.enrolled": ({ it, after }) =>
    after.state === "accepted"
      ? saying("state", "name")`Device ${it} enrolled, and was accepted`
      : after.state === "rejected"
        ? saying("state", "name")`Device ${it} enrolled, and was rejected`
        : saying("state", "name")`Device ${it} enrolled, and waits for a decision`,
  "device.state": ({ it, after }) =>
    after.state === "accepted"
      ? saying("state")`Accepted device ${it}`
      : after.state === "rejected"
        ? saying("state")`Rejected device ${it}`
        : saying("state")`Set device ${it} back to pending`,
  "device.renamed": ({ it, before, after }) =>
    saying(
      "name",
    )`Renamed device ${named(before.name)} to ${{ ...it, text: String(after.name ?? "no name") }}`,
  "device.assigned": ({ it, names, before, after }) =>
    after.assigned_to_user
      ? saying("assigned_to_user")`Assigned device ${it} to ${nameOf(names, after.assigned_to_user)}`
      : saying("assigned_to_user")`Unassigned device ${it} from ${nameOf(names, before.assigned_to_user)}`,
  "device.deleted": ({ it }) => saying("state", "name")`Deleted device ${it}`,
  "device.imported": ({ it }) => plain`Imported device ${it}`,
  "device.token": ({ it }) => plain`Device ${it} received its token`,
  "serial.decided": ({ it, after, before }) => {
    const decided = saying("enforce_state", "source");
    if (after.enforce_state === "accepted") return decided`Approved serial number ${it} in advance`;
    if (after.enforce_state === "rejected") return decided`Rejected serial number ${it}`;
    if (after.enforce_state === "retain")
      return decided`Decided that a device with serial number ${it} waits as pending`;
    return before.enforce_state === "rejected"
      ? decided`Removed the rejection of serial number ${it}`
      : decided`Removed the decision about serial number ${it}`;
  },
  "key.created": ({ it, names, after }) =>
    after.owner
      ? saying("name", "owner")`Created the token ${it} of ${nameOf(names, after.owner)}`
      : saying("name")`Created API key ${it}`,
  "key.updated": ({ it, before, after }) => {
    if (before.disabled === after.disabled)
      return saying(
        "name",
        "disabled",
      )`Renamed API key ${named(before.name)} to ${{ ...it, text: String(after.name ?? "no name") }}`;
    return after.disabled
      ? saying("disabled")`Disabled API key ${it}`
      : saying("disabled")`Enabled API key ${it}`;
  },
  "key.rotated": ({ it }) => plain`Gave API key ${it} a new secret`,
  "key.revoked": ({ it }) => saying("name")`Revoked API key ${it}`,
  "user.created": ({ it, after }) =>
    saying(
      "id",
      "role",
      "email",
      "status",
      ...noRights(after),
    )`Added user ${it} as ${text(textOf(roleNames, after.role))}`,
  "user.updated": ({ it, isOwn, before, after }) => {
    if (before.status !== after.status && after.status === "Disabled")
      return saying("status")`Disabled user ${it}`;
    if (before.status !== after.status) return saying("status")`Enabled user ${it}`;
    if (before.role !== after.role)
      return saying(
        "role",
      )`Changed the role of ${it} from ${text(textOf(roleNames, before.role))} to ${text(textOf(roleNames, after.role))}`;
    return isOwn ? plain`Changed their own account` : plain`Changed user ${it}`;
  },
  "user.deleted": ({ it, before }) => saying(...Object.keys(before))`Deleted user ${it}`,
  "user.password": ({ it, isOwn }) =>
    isOwn ? plain`Changed their own password` : plain`Set a new password for ${it}`,
  "session.opened": () => plain`Signed in`,
  "session.closed": () => plain`Signed out`,
  "auth.failed": ({ it, kind, after }) => {
    const why = text(textOf(failureTexts, after.reason));
    const failed = saying("reason");
    if (kind === "user") return failed`The sign-in as ${it} failed: ${why}`;
    return kind === "key"
      ? failed`A request with API key ${it} was refused: ${why}`
      : failed`A request was refused: ${why}`;
  },
  "enrolment.full": () => plain`A device could not enroll: too many devices are waiting`,
  "database.restored": () => plain`Restored the database from a backup`,
};

/** Rights are details of a Limited Administrator only. */
const noRights = ({ role }: Row["after"]): string[] =>
  role === "LimitedAdministrator"
    ? ["authz_policies"]
    : ["authz_devices", "authz_policies", "authz_control_panel", "authz_users"];

const nameOf = (names: Names, id: unknown): Part => names.get(String(id)) ?? partOf(String(id));

const targetOf = (names: Names, { kind, id }: NonNullable<AuditEntry["target"]>): Part =>
  kind === "serial" ? (names.get(serialName(id)) ?? partOf(id, id)) : nameOf(names, id);

/** The row as a sentence. A code of a newer relcat is shown as it is. */
export function sentenceOf({ actor, code, target, before, after }: AuditEntry, names: Names): Sentence {
  const sentence = Object.hasOwn(eventNames, code) ? sentences[code as AuditCode] : undefined;
  const it = target ? targetOf(names, target) : text("");
  const row: Row = {
    it,
    names,
    isOwn: target !== null && actor.id === target.id,
    kind: target?.kind ?? "",
    before: before ?? {},
    after: after ?? {},
  };
  return sentence?.(row) ?? say([], ["", ": ", ""] as never, text(code), it);
}
