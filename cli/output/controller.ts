import { z } from "zod";
import { auditSchema } from "../../controller/server/audit/audit-documents.ts";
import { deviceSchema, enforcedStates } from "../../controller/server/devices/device-documents.ts";
import { keySchema, newKeySchema } from "../../controller/server/keys/key-documents.ts";
import { userSchema } from "../../controller/server/users/user-documents.ts";
import {
  count,
  document,
  dryRun,
  list,
  object,
  oneOf,
  text,
  texts,
} from "../../pipeline/documents/outputs/members.ts";

const auditRow = auditSchema.shape.audit_log.element;
const auditRows = list(auditRow, "Rows of the audit log, newest first: GET audit_log.");
const device = deviceSchema.describe("The device as the API answers it.");
const deviceId = z.uuid().describe("Id of the device.");
const url = text("Address of the controller.");

const user = { user: userSchema.describe("The user as the API answers it.") };

const states = {
  state: oneOf(["accepted", "rejected"], "The new state."),
  changed: list(z.uuid(), "Ids of devices that had another state."),
  already: count("Number of devices that had this state before."),
  same_serial: list(
    object({
      id: deviceId,
      accepted: z.uuid().describe("Id of another accepted device with its serial number."),
    }),
    "Devices of changed that share their serial number with another accepted device.",
  ),
  dry_run: dryRun,
};

export const controller = {
  login: document("A session that was started.", {
    url,
    email: text("Email address of the user; null if there is none.").nullable(),
    role: text("Role of the user."),
    expires: text("Time at which the session ends."),
  }),
  logout: document("A session that was ended.", { url }),
  "controller-init": document("A new controller.", {
    database: text("Place of the database, without a password."),
    email: text("Email address of the first Owner."),
    role: z.literal("Owner").describe("Role of the first user."),
  }),
  "controller-backup": document("A backup.", {
    file: text("The backup."),
    pepper: text("File with the pepper; null without --with-pepper.").nullable(),
  }),
  "controller-restore": document("A database that was restored.", {
    database: text("The new database."),
    file: text("The backup."),
  }),
  "controller-migrate": document("Upgrades of a database.", {
    steps: texts("Steps that were done; empty if the schema was current."),
  }),
  "controller-user": document("A user that was created or changed.", user),
  "controller-users-list": document("All users.", {
    users: list(userSchema, "Users as the API answers them."),
  }),
  "controller-users-passwd": document("A user with a new password.", {
    id: z.uuid().describe("Id of the user."),
    email: text("Email address of the user; null if there is none.").nullable(),
  }),
  "controller-new-key": document("A new secret, which is shown only once.", newKeySchema.shape),
  "controller-key": document("An API key that was changed.", keySchema.shape),
  "controller-keys-list": document("All API keys.", {
    api_keys: list(keySchema, "API keys as the API answers them, without secrets."),
  }),
  "controller-keys-revoke": document("An API key that was revoked.", {
    id: z.uuid().describe("Id of the key."),
    name: text("Name of the key.").nullable(),
  }),
  "controller-audit-verify": document("The audit log is intact.", {
    rows: count("Number of rows."),
    head: text("SEQ:HASH of the last row, for --head."),
  }),
  "controller-audit-show": document("Rows of the audit log.", { audit_log: auditRows }),
  "devices-list": document("Devices that match.", {
    devices: list(deviceSchema, "Devices as the API answers them, in order of creation."),
  }),
  "devices-show": document("A device, after the change if there was one.", { device }),
  "devices-history": document("History of a device.", { id: deviceId, audit_log: auditRows }),
  "devices-delete": document("Devices that were deleted.", {
    deleted: list(z.uuid(), "Ids of the devices."),
  }),
  "devices-state": document("Devices that were accepted or rejected.", states),
  "devices-serials": document(
    "With --serials: devices that were accepted or rejected. Exit status 1 if serial numbers are left.",
    {
      ...states,
      preapproved: texts("Unknown serial numbers that were accepted in advance."),
      rejected: texts("Rejected devices and serial numbers that were left out."),
      unknown: texts("Serial numbers that no device has."),
      ambiguous: texts("Serial numbers that several devices have."),
      placeholders: texts("Texts that many machines have instead of a serial number."),
    },
  ),
  "devices-import": document("Values that an import set.", {
    states: count("Number of states."),
    names: count("Number of names."),
    assignments: count("Number of assignments."),
    decisions: count("Number of decisions in advance."),
    unknown: count("Number of devices that are not here and have no serial number."),
    dry_run: dryRun,
  }),
  "devices-enroll": document("Answer to a device.", {
    id: deviceId,
    state: oneOf(["pending", "accepted"], "State of the device."),
    key_file: text("File with its private key."),
    token_file: text("File with its token; null if it was given none.").nullable(),
  }),
};

export const deviceLines = {
  "devices-watch": auditRow
    .omit({ hash: true, request_id: true })
    .extend({ actor: auditRow.shape.actor.omit({ ip: true }) })
    .describe("An event."),
  "devices-export": z
    .union([
      deviceSchema,
      object({
        serial: text("Serial number."),
        enforce_state: oneOf(enforcedStates, "Decision in advance."),
      }),
    ])
    .describe("A device, or a decision in advance about a serial number."),
};
