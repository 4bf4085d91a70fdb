import type { z } from "zod";
import type { Access } from "./access.ts";
import type { AuditCode } from "./audit/audit-log.ts";
import * as documents from "./documents.ts";
import type { ProblemKind } from "./problems.ts";
import type { ControllerOperation } from "./routes.ts";

/**
 * Input, access, limits and answers of an operation. Validation, enforcement and documentation all use this.
 */
export interface Contract {
  summary: string;
  description?: string;
  access: Access;
  /** The rate limit that applies; `enrol` and `login` are counted per address. */
  rate: "api" | "login" | "enrol";
  /** Audit codes that the operation may record. */
  audit?: readonly AuditCode[];
  query?: z.ZodObject;
  /** optional: an empty body means `{}`. */
  body?: { schema: z.ZodType; optional?: true; bytes: number };
  /** also: second status, for something that existed already or is new. */
  success: {
    status: 200 | 201 | 204;
    also?: 200 | 201;
    description: string;
    schema?: z.ZodType;
    type?: string;
  };
  /** Problems in addition to those that all operations with this access share. */
  problems?: readonly ProblemKind[];
}

const small = 16 * 1024;
const large = 1024 * 1024;
const idsOnly = ["not-found"] as const;

export const contracts: Record<ControllerOperation, Contract> = {
  health: {
    summary: "Health check",
    access: "anyone",
    rate: "api",
    success: { status: 200, description: "The server is up.", schema: documents.okSchema },
  },
  listDevices: {
    summary: "List devices",
    description:
      "All devices, or with limit one page; Link has the next page, X-Total-Count the number of matches.",
    access: { scope: "devices:read" },
    rate: "api",
    query: documents.deviceQuerySchema,
    success: { status: 200, description: "Devices by id.", schema: documents.deviceMapSchema },
    problems: ["invalid"],
  },
  setDeviceStates: {
    summary: "Accept and reject devices",
    description: "All or nothing; with Prefer: handling=lenient as many as possible.",
    access: { scope: "devices:state" },
    rate: "api",
    audit: ["device.state"],
    body: { schema: documents.stateRequestSchema, bytes: large },
    success: { status: 200, description: "Result for each device.", schema: documents.stateAnswerSchema },
    problems: ["not-found", "conflict", "limit-reached"],
  },
  assignDevice: {
    summary: "Assign a device to a user",
    access: { scope: "devices:write" },
    rate: "api",
    audit: ["device.assigned"],
    body: { schema: documents.assignRequestSchema, bytes: small },
    success: { status: 200, description: "The device.", schema: documents.deviceSchema },
    problems: idsOnly,
  },
  listAuthDecisions: {
    summary: "List decisions about serial numbers",
    access: { scope: "devices:read" },
    rate: "api",
    success: { status: 200, description: "Decisions.", schema: documents.decisionsSchema },
  },
  setAuthDecisions: {
    summary: "Decide on serial numbers before their devices call",
    description:
      "An acceptance is used up by the first device that has the serial number. A list skips rejected serial numbers, unless include_rejected is true.",
    access: { scope: "devices:state" },
    rate: "api",
    audit: ["serial.decided"],
    body: { schema: documents.decisionsRequestSchema, bytes: large },
    success: {
      status: 200,
      description: "The decisions on these serial numbers.",
      schema: documents.decisionsAnswerSchema,
    },
    problems: ["not-found", "conflict"],
  },
  makeNonce: {
    summary: "Start an enrolment",
    access: "anyone",
    rate: "enrol",
    success: { status: 200, description: "Nonce that the proof must cover.", schema: documents.nonceSchema },
  },
  enrollDevice: {
    summary: "Enroll a device, or get its state",
    description:
      'The proof is the Ed25519 signature over the JSON array ["relcat-enroll-1", nonce, public_key, name, serial, device_type, device_os, version], compact, with null for missing values.',
    access: "anyone",
    rate: "enrol",
    audit: ["device.enrolled", "device.token", "enrolment.full"],
    body: { schema: documents.enrollRequestSchema, bytes: small },
    success: {
      status: 201,
      also: 200,
      description: "State of the device; 200 if it was known.",
      schema: documents.enrollAnswerSchema,
    },
    problems: ["forbidden", "enrolment-full"],
  },
  readDevice: {
    summary: "Read a device",
    access: { scope: "devices:read" },
    rate: "api",
    success: { status: 200, description: "The device.", schema: documents.deviceSchema },
    problems: idsOnly,
  },
  changeDevice: {
    summary: "Rename a device",
    access: { scope: "devices:write" },
    rate: "api",
    audit: ["device.renamed"],
    body: { schema: documents.deviceChangeSchema, bytes: small },
    success: { status: 200, description: "The device.", schema: documents.deviceSchema },
    problems: idsOnly,
  },
  deleteDevice: {
    summary: "Delete a rejected device",
    description: "Its serial number stays rejected.",
    access: { scope: "devices:write" },
    rate: "api",
    audit: ["device.deleted"],
    success: { status: 204, description: "Deleted." },
    problems: ["not-found", "conflict"],
  },
  listApiKeys: {
    summary: "List API keys",
    access: { scope: "api_keys:read" },
    rate: "api",
    success: {
      status: 200,
      description: "Keys, including revoked ones, without their secrets.",
      schema: documents.keyListSchema,
    },
  },
  createApiKey: {
    summary: "Create an API key",
    description:
      "Requires an Owner or a Full Administrator. The default scopes read devices and set their state.",
    access: { scope: "api_keys:write", by: ["session", "token"] },
    rate: "api",
    audit: ["key.created"],
    body: { schema: documents.keyRequestSchema, optional: true, bytes: small },
    success: {
      status: 201,
      description: "The key, with its secret; shown only once.",
      schema: documents.newKeySchema,
    },
  },
  readOwnApiKey: {
    summary: "Read this request's key",
    access: "holder",
    rate: "api",
    success: { status: 200, description: "The key.", schema: documents.keySchema },
  },
  rotateOwnApiKey: {
    summary: "Rotate the secret of this request's key",
    description: "Requires the current secret; a replaced one gets 403 during its overlap.",
    access: "holder",
    rate: "api",
    audit: ["key.rotated"],
    body: { schema: documents.rotateRequestSchema, optional: true, bytes: small },
    success: { status: 200, description: "The new secret; shown only once.", schema: documents.newKeySchema },
    problems: ["conflict"],
  },
  changeApiKey: {
    summary: "Rename, disable or enable an API key",
    access: { scope: "api_keys:write", by: ["session", "token"] },
    rate: "api",
    audit: ["key.updated"],
    body: { schema: documents.keyChangeSchema, bytes: small },
    success: { status: 200, description: "The key.", schema: documents.keySchema },
    problems: idsOnly,
  },
  revokeApiKey: {
    summary: "Revoke an API key permanently",
    access: { scope: "api_keys:write" },
    rate: "api",
    audit: ["key.revoked"],
    success: { status: 204, description: "Revoked from the next request on." },
    problems: idsOnly,
  },
  rotateApiKey: {
    summary: "Rotate the secret of an API key",
    access: { scope: "api_keys:write", by: ["session", "token"] },
    rate: "api",
    audit: ["key.rotated"],
    body: { schema: documents.rotateRequestSchema, optional: true, bytes: small },
    success: { status: 200, description: "The new secret; shown only once.", schema: documents.newKeySchema },
    problems: ["not-found", "conflict"],
  },
  login: {
    summary: "Sign in",
    access: "anyone",
    rate: "login",
    audit: ["session.opened", "auth.failed"],
    body: { schema: documents.loginRequestSchema, bytes: small },
    success: {
      status: 200,
      description: "The user; the session is in a cookie.",
      schema: documents.userAnswerSchema,
    },
    problems: ["unauthorized", "cross-origin", "busy"],
  },
  logout: {
    summary: "Sign out",
    access: "person",
    rate: "api",
    audit: ["session.closed"],
    success: { status: 204, description: "The session has ended." },
  },
  readMe: {
    summary: "Read the signed-in user",
    access: "user",
    rate: "api",
    success: {
      status: 200,
      description: "The user, and the devices assigned to them.",
      schema: documents.meSchema,
    },
  },
  changeMe: {
    summary: "Change your own name or password",
    description: "A new password needs the current one, and ends all other sessions.",
    access: "person",
    rate: "api",
    audit: ["user.updated", "user.password"],
    body: { schema: documents.meChangeSchema, optional: true, bytes: small },
    success: {
      status: 200,
      description: "The user, and the devices assigned to them.",
      schema: documents.meSchema,
    },
    problems: ["conflict", "busy"],
  },
  listTokens: {
    summary: "List your own tokens",
    access: "user",
    rate: "api",
    success: { status: 200, description: "Tokens, without their secrets.", schema: documents.keyListSchema },
  },
  createToken: {
    summary: "Create a token for yourself, for /latest/",
    description:
      "Its permissions are those that both its scopes and its user's role allow, checked on every request.",
    access: "person",
    rate: "api",
    audit: ["key.created"],
    body: { schema: documents.keyRequestSchema, optional: true, bytes: small },
    success: { status: 201, description: "The token; shown only once.", schema: documents.newKeySchema },
  },
  revokeToken: {
    summary: "Revoke one of your own tokens",
    access: "user",
    rate: "api",
    audit: ["key.revoked"],
    success: { status: 204, description: "Revoked from the next request on." },
    problems: idsOnly,
  },
  listUsers: {
    summary: "List users",
    access: { scope: "users:read" },
    rate: "api",
    success: { status: 200, description: "Users by id.", schema: documents.userMapSchema },
  },
  readUser: {
    summary: "Read a user",
    access: { scope: "users:read" },
    rate: "api",
    success: { status: 200, description: "The user.", schema: documents.userSchema },
    problems: idsOnly,
  },
  deleteUser: {
    summary: "Delete a disabled user",
    access: { scope: "users:write", by: ["session"] },
    rate: "api",
    audit: ["user.deleted"],
    success: { status: 204, description: "Deleted." },
    problems: ["not-found", "conflict"],
  },
  upsertUser: {
    summary: "Create or change a user",
    description:
      "Only Owners change Owners. The last active Owner cannot be removed. No user can change their own role.",
    access: { scope: "users:write", by: ["session"] },
    rate: "api",
    audit: ["user.created", "user.updated", "user.password"],
    body: { schema: documents.upsertRequestSchema, bytes: small },
    success: {
      status: 200,
      also: 201,
      description: "The user; 201 if it is new.",
      schema: documents.userSchema,
    },
    problems: ["conflict"],
  },
  listAudit: {
    summary: "Read the audit log",
    access: { scope: "audit:read" },
    rate: "api",
    query: documents.auditQuerySchema,
    success: {
      status: 200,
      description: "Rows, newest first unless `after` is given.",
      schema: documents.auditSchema,
    },
  },
  streamEvents: {
    summary: "Stream device events",
    description: "Server-sent events; Last-Event-ID and `after` continue where a client stopped.",
    access: { scope: "devices:read" },
    rate: "api",
    query: documents.eventsQuerySchema,
    success: { status: 200, description: "An endless stream.", type: "text/event-stream" },
    problems: ["busy"],
  },
  readOpenApi: {
    summary: "This OpenAPI description",
    access: "anyone",
    rate: "api",
    success: { status: 200, description: "OpenAPI 3.1.", type: "application/json" },
  },
  readDocs: {
    summary: "This API as a page",
    access: "anyone",
    rate: "api",
    success: { status: 200, description: "A page.", type: "text/html" },
  },
};
