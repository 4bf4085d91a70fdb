import { z } from "zod";
import { keyScopes, roles, scopes } from "./access.ts";

/**
 * Schemas of requests and answers. Requests are strict, so that a misspelt member is an error. Where clients
 * existed before this server (z.object), unknown members are ignored and listed in X-Ignored-Fields.
 */
const text = z.string();
const moment = z.iso.datetime({ precision: 3 }).meta({ description: "ISO 8601, UTC, with milliseconds." });
const line = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine(
      (value) => !/[\p{Cc}\u2028\u2029]/u.test(value) && value.isWellFormed(),
      "has control characters",
    );

export const deviceStates = ["pending", "accepted", "rejected"] as const;
export type DeviceState = (typeof deviceStates)[number];

export const deviceSchema = z
  .strictObject({
    id: z.uuid(),
    name: text.nullable(),
    state: z.enum(deviceStates),
    serial: text.nullable(),
    public_key: text.meta({ description: "Ed25519, base64 of the 32 bytes." }),
    ipv6: text.nullable(),
    device_type: text.nullable(),
    device_os: text.nullable(),
    controller_id: text.nullable(),
    owned_by_org: text.nullable(),
    assigned_to_user: text.nullable(),
    last_seen: moment.nullable(),
    last_seen_version: text.nullable(),
    version: z.int().meta({ description: "Increases with every change; for if_version." }),
    created_at: moment,
    state_changed_at: moment,
    state_changed_by: text.nullable(),
    state_reason: text.nullable(),
  })
  .meta({ id: "Device" });
export type Device = z.infer<typeof deviceSchema>;

export const deviceMapSchema = z
  .strictObject({ devices: z.record(z.uuid(), deviceSchema) })
  .meta({ id: "Devices", description: "By id, in order of creation." });

export const deviceQuerySchema = z.strictObject({
  state: z.enum(deviceStates).optional(),
  serial: line(255).optional().meta({ description: "Exact match, ignoring case and surrounding spaces." }),
  q: line(255).optional().meta({ description: "Part of a name, a serial number or an id." }),
  limit: z
    .string()
    .regex(/^([1-9]\d{0,2}|1000)$/)
    .optional()
    .meta({ description: "Page size, 1 to 1000." }),
  cursor: line(200).optional().meta({ description: "From the Link header of the previous page." }),
});

const reason = line(500).meta({ description: "Reason for the history." });

export const stateRequestSchema = z
  .object({
    devices: z
      .array(
        z.object({
          id: line(64),
          state: z.enum(deviceStates),
          reason: reason.optional(),
          if_version: z.int().nonnegative().optional(),
        }),
      )
      .min(1)
      .max(1000),
    dry_run: z.boolean().optional(),
  })
  .meta({ id: "DeviceStateRequest" });
export type StateRequest = z.infer<typeof stateRequestSchema>;

const stateResult = z.strictObject({
  id: text,
  state: z.enum(deviceStates),
  previous_state: z.enum(deviceStates),
  changed: z.boolean(),
  version: z.int(),
});
const failedItem = z.strictObject({
  id: text,
  error: z.enum(["not-found", "version-conflict", "limit-reached"]),
  detail: text,
});
export const stateItemSchema = z.union([stateResult, failedItem]);
export type StateItem = z.infer<typeof stateItemSchema>;

export const stateAnswerSchema = z
  .strictObject({ devices: z.array(stateItemSchema), changed: z.int(), dry_run: z.literal(true).optional() })
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
          enforce_state: z.enum([...enforcedStates, "none"]),
          device_id: line(64).nullable().optional(),
        }),
      )
      .min(1)
      .max(1000),
    include_rejected: z
      .boolean()
      .optional()
      .meta({ description: "Also accept rejected serial numbers; otherwise a list skips them." }),
  })
  .meta({ id: "AuthDecisionsRequest", description: "none removes a decision." });
export const decisionsSchema = z
  .strictObject({
    auth_decisions: z.array(
      z.strictObject({
        serial: text,
        enforce_state: z.enum(enforcedStates),
        device_id: text.nullable(),
        source: z.enum(["decision", "rejection"]),
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
      .meta({
        description: "Number of skipped rejected serial numbers, and three of them; absent if none.",
      }),
  })
  .meta({ id: "AuthDecisionsAnswer", description: "Current decisions about these serial numbers." });

export const nonceSchema = z.strictObject({ nonce: text, expires_at: moment }).meta({ id: "Nonce" });
export const enrollRequestSchema = z
  .strictObject({
    public_key: z.string().regex(/^[A-Za-z0-9+/]{43}=$/, "expected the base64 of 32 bytes"),
    name: line(255).nullable().optional(),
    serial: line(255).nullable().optional(),
    device_type: line(64).nullable().optional(),
    device_os: line(64).nullable().optional(),
    version: line(64).nullable().optional(),
    nonce: line(200),
    proof: z.string().regex(/^[A-Za-z0-9+/]{86}==$/, "expected the base64 of 64 bytes"),
  })
  .meta({ id: "EnrollRequest" });
export const enrollAnswerSchema = z
  .strictObject({ id: z.uuid(), state: z.enum(deviceStates), token: text.optional() })
  .meta({ id: "EnrollAnswer", description: "An accepted device is given its token once." });

const scopeList = z.array(z.enum([...keyScopes, "api_keys:*", "users:*"])).max(20);
export const keyRequestSchema = z
  .object({
    name: line(255).nullable().optional(),
    scopes: scopeList.optional(),
    expires_in_days: z
      .union([z.int().min(1).max(3650), z.literal("never")])
      .nullable()
      .optional(),
  })
  .meta({ id: "ApiKeyRequest" });
export const keyChangeSchema = z
  .strictObject({ name: line(255).nullable().optional(), disabled: z.boolean().optional() })
  .meta({ id: "ApiKeyChange" });
export const rotateRequestSchema = z
  .strictObject({ overlap_hours: z.number().min(0).max(720).optional() })
  .meta({ id: "RotateRequest", description: "How long the old secret still works; default: one day." });
export const keySchema = z
  .strictObject({
    id: z.uuid(),
    name: text.nullable(),
    scopes: z.array(z.enum(scopes)),
    created_by: text,
    created_at: moment,
    expires_at: moment.nullable(),
    disabled: z.boolean(),
    revoked_at: moment.nullable(),
    last_used_at: moment.nullable(),
    previous_until: moment.nullable().meta({ description: "When the previous secret stops working." }),
  })
  .meta({ id: "ApiKey" });
export const keyListSchema = z.strictObject({ api_keys: z.array(keySchema) }).meta({ id: "ApiKeys" });
export const newKeySchema = z
  .strictObject({
    id: z.uuid(),
    key: text,
    name: text.nullable(),
    scopes: z.array(z.enum(scopes)),
    created_at: moment,
    expires_at: moment.nullable(),
    previous_until: moment.optional(),
  })
  .meta({ id: "NewApiKey", description: "The secret is shown only once." });

export const userSchema = z
  .strictObject({
    id: z.uuid(),
    name: text.nullable(),
    email: text.nullable(),
    username: text.nullable(),
    role: z.enum(roles),
    status: z.enum(["Active", "Disabled"]),
    authz_devices: z.boolean(),
    authz_policies: z.boolean(),
    authz_control_panel: z.boolean(),
    authz_control_plane: z.boolean(),
    authz_users: z.boolean(),
  })
  .meta({ id: "User" });
export const userMapSchema = z.record(z.uuid(), userSchema).meta({ id: "Users", description: "By id." });
export const userAnswerSchema = z.strictObject({ user: userSchema }).meta({ id: "UserAnswer" });
export const meSchema = z
  .strictObject({ user: userSchema, devices: z.record(z.uuid(), deviceSchema) })
  .meta({ id: "Me" });
/** NIST SP 800-63B: require length, not character classes. */
const password = z.string().min(12).max(1024);
const email = z.email().max(255);
export const loginRequestSchema = z
  .object({
    email: line(255).optional(),
    email_or_username: line(255).optional(),
    password: z.string().min(1).max(1024),
  })
  .meta({ id: "LoginRequest", description: "One of email and email_or_username." });
export const meChangeSchema = z
  .object({
    name: line(255).nullable().optional(),
    username: line(64).nullable().optional(),
    password: password.optional(),
    current_password: z.string().max(1024).optional(),
  })
  .meta({ id: "MeChange" });
export const upsertRequestSchema = z
  .object({
    id: line(64).optional().meta({ description: "Id of the user to change, or the UUID v4 of a new user." }),
    email: email.nullable().optional(),
    name: line(255).nullable().optional(),
    username: line(64).nullable().optional(),
    role: z.enum(roles).optional(),
    status: z.enum(["Active", "Disabled"]).optional(),
    authz_devices: z.boolean().optional(),
    authz_policies: z.boolean().optional(),
    authz_control_panel: z.boolean().optional(),
    authz_control_plane: z
      .boolean()
      .optional()
      .meta({ description: "Alias of authz_control_panel; send one of them, or both with the same value." }),
    authz_users: z.boolean().optional(),
    password: password.optional(),
  })
  .meta({
    id: "UserRequest",
    description:
      "Changes the user with this id, or creates one. A user has an email address, a user name, or both.",
  });

export const auditQuerySchema = z.strictObject({
  target: line(255).optional().meta({ description: "Id of a device, user or key." }),
  code: line(64).optional(),
  after: z
    .string()
    .regex(/^\d{1,15}$/)
    .optional()
    .meta({ description: "Only rows after this seq." }),
  before: z
    .string()
    .regex(/^\d{1,15}$/)
    .optional()
    .meta({ description: "Only rows before this seq, newest first." }),
  limit: z
    .string()
    .regex(/^([1-9]\d{0,2}|1000)$/)
    .optional()
    .meta({ description: "1 to 1000; default: 100." }),
});
export const auditSchema = z
  .strictObject({
    audit_log: z.array(
      z.strictObject({
        seq: z.int(),
        at: moment,
        actor: z.strictObject({
          kind: text,
          id: text.nullable(),
          name: text.nullable(),
          ip: text.nullable(),
        }),
        request_id: text.nullable(),
        code: text,
        target: z.strictObject({ kind: text, id: text }).nullable(),
        before: z.looseObject({}).nullable(),
        after: z.looseObject({}).nullable(),
        hash: text,
      }),
    ),
  })
  .meta({ id: "AuditLog" });
export const eventsQuerySchema = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,15}$/)
    .optional()
    .meta({ description: "Events after this id; default: from now on." }),
});

export const okSchema = z.strictObject({ status: z.literal("ok") }).meta({ id: "Ok" });
export const problemSchema = z
  .looseObject({
    type: text,
    title: text,
    status: z.int(),
    detail: text,
    instance: text,
    errors: z.array(z.strictObject({ pointer: text, code: text, detail: text })).optional(),
  })
  .meta({ id: "Problem", description: "RFC 9457." });
export const bulkProblemSchema = problemSchema
  .extend({ results: z.array(z.looseObject({ id: text })).optional() })
  .meta({ id: "BulkProblem", description: "Nothing was applied; results give the reason for each item." });
