import { z } from "zod";
import { deviceSchema, deviceStates } from "../device.ts";
import { line, moment, pageSize, text } from "../fields.ts";

export { type Device, type DeviceState, deviceSchema, deviceStates } from "../device.ts";

export const deviceMapSchema = z
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

export const stateRequestSchema = z
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

export const stateAnswerSchema = z
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
export const decisionsSchema = z
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
export const decisionsAnswerSchema = decisionsSchema
  .extend({
    left_out: z
      .strictObject({ rejected: z.int(), serials: z.array(text) })
      .optional()
      .describe("Number of skipped rejected serial numbers, and three of them; absent if none."),
  })
  .meta({ id: "AuthDecisionsAnswer", description: "Current decisions about these serial numbers." });

export const nonceSchema = z.strictObject({ nonce: text, expires_at: moment }).meta({ id: "Nonce" });
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
export const enrollAnswerSchema = z
  .strictObject({
    id: z.uuid(),
    state: z.enum(deviceStates),
    token: text.optional().describe("Credential of the device."),
  })
  .meta({ id: "EnrollAnswer", description: "An accepted device is given its token once." });
