import { z } from "zod";
import { largeBody, type OperationContracts } from "../contract.ts";
import { deviceSchema, deviceStates } from "../device.ts";
import { line, moment, pageSize, text } from "../fields.ts";

export { type Device, type DeviceState, deviceSchema, deviceStates } from "../device.ts";

const deviceMapSchema = z
  .strictObject({ devices: z.record(z.uuid(), deviceSchema) })
  .meta({ id: "Devices", description: "By id, in order of creation." });

export const deviceQuerySchema = z.strictObject({
  state: z.enum(deviceStates).optional(),
  serial: line(255).optional().describe("Exact match, ignoring case and surrounding spaces."),
  q: line(255).optional().describe("Part of a name, a serial number or an id."),
  limit: pageSize("Page size, 1 to 1000."),
  sort: z
    .enum(["created", "name"])
    .optional()
    .describe("Order of a page: creation (default), or name, with laptop-2 before laptop-10."),
  cursor: line(3000).optional().describe("From the Link header of another page."),
});

const reason = line(500).describe("Reason for the history.");

const stateRequestSchema = z
  .object({
    devices: z
      .array(
        z.object({
          id: line(64),
          state: z.enum(deviceStates),
          reason: reason.optional(),
          if_version: z
            .int()
            .nonnegative()
            .optional()
            .describe("Makes the change conditional on this version of the device."),
        }),
      )
      .min(1)
      .max(1000),
    dry_run: z.boolean().optional().describe("Shows what would happen, and changes nothing."),
  })
  .meta({ id: "DeviceStateRequest" });
export type StateRequest = z.infer<typeof stateRequestSchema>;

const stateResult = z.strictObject({
  id: text,
  state: z.enum(deviceStates),
  previous_state: z.enum(deviceStates),
  changed: z.boolean().describe("Whether the state changed."),
  version: z.int(),
});
const failedItem = z.strictObject({
  id: text,
  error: z.enum(["not-found", "version-conflict", "limit-reached"]).describe("Reason for the refusal."),
  detail: text,
});
const stateItemSchema = z.union([stateResult, failedItem]);
export type StateItem = z.infer<typeof stateItemSchema>;

const stateAnswerSchema = z
  .strictObject({
    devices: z.array(stateItemSchema),
    changed: z.int().describe("Number of states that changed."),
    same_serial: z
      .array(z.strictObject({ id: z.uuid(), accepted: z.uuid() }))
      .optional()
      .describe("Acceptances whose serial number another accepted device has; absent if none."),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: "DeviceStateAnswer", description: "In the order of the request." });

export const deviceChangeSchema = z.object({ name: line(255).nullable() }).meta({ id: "DeviceChange" });
export const assignRequestSchema = z
  .object({ device_id: line(64), user_id: line(64).nullable().optional() })
  .meta({ id: "AssignRequest", description: "Without a user, the device is not assigned." });

export const enforcedStates = ["accepted", "rejected", "retain"] as const;
export const decisionsRequestSchema = z
  .object({
    auth_decisions: z
      .array(
        z.object({
          serial: line(255),
          enforce_state: z
            .enum([...enforcedStates, "none"])
            .describe("Decision at first contact; retain leaves the device pending."),
          device_id: line(64).nullable().optional(),
        }),
      )
      .min(1)
      .max(1000),
    include_rejected: z
      .boolean()
      .optional()
      .describe("Also accept rejected serial numbers; otherwise a list skips them."),
  })
  .meta({ id: "AuthDecisionsRequest", description: "none removes a decision." });
const decisionsSchema = z
  .strictObject({
    auth_decisions: z.array(
      z.strictObject({
        serial: text,
        enforce_state: z.enum(enforcedStates),
        device_id: text.nullable(),
        source: z
          .enum(["decision", "rejection"])
          .describe("decision: made by a person or script. rejection: its device was rejected."),
        created_at: moment,
      }),
    ),
  })
  .meta({ id: "AuthDecisions", description: "Decision for the first contact with a serial number." });
const decisionsAnswerSchema = decisionsSchema
  .extend({
    left_out: z
      .strictObject({ rejected: z.int(), serials: z.array(text) })
      .optional()
      .describe("Number of skipped rejected serial numbers, and three of them; absent if none."),
  })
  .meta({ id: "AuthDecisionsAnswer", description: "Current decisions about these serial numbers." });

const nonceSchema = z.strictObject({ nonce: text, expires_at: moment }).meta({ id: "Nonce" });
export const enrollRequestSchema = z
  .strictObject({
    public_key: z
      .string()
      .regex(/^[A-Za-z0-9+/]{43}=$/, "Expected the base64 of 32 bytes")
      .describe("Ed25519, base64 of the 32 bytes."),
    name: line(255).nullable().optional(),
    serial: line(255).nullable().optional(),
    device_type: line(64).nullable().optional(),
    device_os: line(64).nullable().optional(),
    version: line(64).nullable().optional(),
    nonce: line(200).describe("Value that the proof must cover; valid once."),
    proof: z
      .string()
      .regex(/^[A-Za-z0-9+/]{86}==$/, "Expected the base64 of 64 bytes")
      .describe("Signature over the fields, base64."),
  })
  .meta({ id: "EnrollRequest" });
const enrollAnswerSchema = z
  .strictObject({
    id: z.uuid(),
    state: z.enum(deviceStates),
    token: text.optional().describe("Credential of the device."),
  })
  .meta({ id: "EnrollAnswer", description: "An accepted device is given its token once." });

export const deviceContracts = {
  listDevices: {
    summary: "List devices",
    description:
      "All devices, or with limit one page; Link has the next and the previous page, X-Total-Count the number of matches.",
    access: { scope: "devices:read" },
    query: deviceQuerySchema,
    success: { description: "Devices by id.", schema: deviceMapSchema },
    problems: ["invalid"],
  },
  setDeviceStates: {
    summary: "Accept and reject devices",
    description: "All or nothing; with Prefer: handling=lenient as many as possible.",
    access: { scope: "devices:state" },
    identifies: true,
    audit: ["device.state"],
    body: {
      schema: stateRequestSchema,
      example: { devices: [{ id: "7d0f6a4e-3c1b-4f0a-9a51-3d2c8e7b6f10", state: "accepted" }] },
      bytes: largeBody,
    },
    success: { description: "Result for each device.", schema: stateAnswerSchema },
    problems: ["not-found", "conflict", "limit-reached"],
  },
  assignDevice: {
    summary: "Assign a device to a user",
    access: { scope: "devices:write" },
    audit: ["device.assigned"],
    body: {
      schema: assignRequestSchema,
      example: {
        device_id: "7d0f6a4e-3c1b-4f0a-9a51-3d2c8e7b6f10",
        user_id: "2f1c9d5e-8a7b-4c3d-b2e1-0f9e8d7c6b5a",
      },
    },
    success: { description: "The device.", schema: deviceSchema },
    problems: ["not-found"],
  },
  listAuthDecisions: {
    summary: "List decisions about serial numbers",
    access: { scope: "devices:read" },
    success: { description: "Decisions.", schema: decisionsSchema },
  },
  setAuthDecisions: {
    summary: "Decide on serial numbers before their devices call",
    description:
      "An acceptance is used up by the first device that has the serial number. A list skips rejected serial numbers, unless include_rejected is true.",
    access: { scope: "devices:state" },
    audit: ["serial.decided"],
    body: {
      schema: decisionsRequestSchema,
      example: { auth_decisions: [{ serial: "5CG2140XYZ", enforce_state: "accepted" }] },
      bytes: largeBody,
    },
    success: { description: "The decisions on these serial numbers.", schema: decisionsAnswerSchema },
    problems: ["not-found", "conflict"],
  },
  makeNonce: {
    summary: "Start an enrolment",
    access: "anyone",
    rate: "enrol",
    success: { description: "Nonce that the proof must cover.", schema: nonceSchema },
  },
  enrollDevice: {
    summary: "Enroll a device, or get its state",
    description:
      'The proof is the Ed25519 signature over the JSON array ["relcat-enroll-1", nonce, public_key, name, serial, device_type, device_os, version], compact, with null for missing values.',
    access: "anyone",
    rate: "enrol",
    audit: ["device.enrolled", "device.token", "enrolment.full"],
    body: {
      schema: enrollRequestSchema,
      example: {
        public_key: `${"A".repeat(43)}=`,
        name: "berlin-laptop-007",
        serial: "5CG2140XYZ",
        nonce: "from GET device/enroll",
        proof: `${"A".repeat(86)}==`,
      },
    },
    success: {
      status: 201,
      also: 200,
      description: "State of the device; 200 if it was known.",
      schema: enrollAnswerSchema,
    },
    problems: ["forbidden", "enrolment-full"],
  },
  readDevice: {
    summary: "Read a device",
    access: { scope: "devices:read" },
    withDevice: true,
    success: { description: "The device.", schema: deviceSchema },
    problems: ["not-found"],
  },
  changeDevice: {
    summary: "Rename a device",
    access: { scope: "devices:write" },
    audit: ["device.renamed"],
    body: { schema: deviceChangeSchema, example: { name: "berlin-laptop-007" } },
    success: { description: "The device.", schema: deviceSchema },
    problems: ["not-found"],
  },
  deleteDevice: {
    summary: "Delete a rejected device",
    description: "Its serial number stays rejected.",
    access: { scope: "devices:write" },
    audit: ["device.deleted"],
    success: { status: 204, description: "Deleted." },
    problems: ["not-found", "conflict"],
  },
} satisfies OperationContracts;
