import { z } from "zod";
import { keyScopes, scopes } from "../access.ts";
import type { OperationContracts } from "../contract.ts";
import { line, moment, text } from "../fields.ts";

const scopeList = z.array(z.enum([...keyScopes, "api_keys:*", "users:*"])).max(20);
export const keyRequestSchema = z
  .object({
    name: line(255).nullable().optional().describe("A name for people."),
    scopes: scopeList.optional().describe("Permissions."),
    expires_in_days: z
      .union([z.int().min(1).max(3650), z.literal("never")], "Expected a number from 1 to 3650, or never")
      .nullable()
      .optional()
      .describe("Lifetime in days; never only if the controller allows it."),
  })
  .meta({ id: "ApiKeyRequest" });
export const keyChangeSchema = z
  .strictObject({ name: line(255).nullable().optional(), disabled: z.boolean().optional() })
  .meta({ id: "ApiKeyChange" });
export const rotateRequestSchema = z
  .strictObject({
    overlap_hours: z.number().min(0).max(720).optional().describe("Hours that the old secret still works."),
  })
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
    revoked_at: moment.nullable().describe("Time of the permanent revocation."),
    last_used_at: moment.nullable().describe("Time of the last use, to the minute."),
    previous_until: moment.nullable().describe("When the previous secret stops working."),
  })
  .meta({ id: "ApiKey", description: "An API key without its secret." });
const keyListSchema = z.strictObject({ api_keys: z.array(keySchema) }).meta({ id: "ApiKeys" });
export const newKeySchema = z
  .strictObject({
    id: z.uuid(),
    key: text.describe("The secret."),
    name: text.nullable(),
    scopes: z.array(z.enum(scopes)),
    created_at: moment,
    expires_at: moment.nullable(),
    previous_until: moment.optional(),
  })
  .meta({ id: "NewApiKey", description: "The secret is shown only once." });

export const keyContracts = {
  listApiKeys: {
    summary: "List API keys",
    access: { scope: "api_keys:read" },
    success: { description: "Keys, including revoked ones, without their secrets.", schema: keyListSchema },
  },
  createApiKey: {
    summary: "Create an API key",
    description:
      "Requires an Owner or a Full Administrator. The default scopes read devices and set their state.",
    access: { scope: "api_keys:write", by: ["session", "token"] },
    audit: ["key.created"],
    body: {
      schema: keyRequestSchema,
      example: { name: "nightly export", scopes: ["devices:read"], expires_in_days: 30 },
      optional: true,
    },
    success: { status: 201, description: "The key, with its secret; shown only once.", schema: newKeySchema },
  },
  readOwnApiKey: {
    summary: "Read this request's key",
    access: "holder",
    success: { description: "The key.", schema: keySchema },
  },
  rotateOwnApiKey: {
    summary: "Rotate the secret of this request's key",
    description: "Requires the current secret; a replaced one gets 403 during its overlap.",
    access: "holder",
    audit: ["key.rotated"],
    body: { schema: rotateRequestSchema, example: { overlap_hours: 2 }, optional: true },
    success: { description: "The new secret; shown only once.", schema: newKeySchema },
    problems: ["conflict"],
  },
  changeApiKey: {
    summary: "Rename, disable or enable an API key",
    access: { scope: "api_keys:write", by: ["session", "token"] },
    audit: ["key.updated"],
    body: { schema: keyChangeSchema, example: { disabled: true } },
    success: { description: "The key.", schema: keySchema },
    problems: ["not-found"],
  },
  revokeApiKey: {
    summary: "Revoke an API key permanently",
    access: { scope: "api_keys:write" },
    audit: ["key.revoked"],
    success: { status: 204, description: "Revoked from the next request on." },
    problems: ["not-found"],
  },
  rotateApiKey: {
    summary: "Rotate the secret of an API key",
    access: { scope: "api_keys:write", by: ["session", "token"] },
    audit: ["key.rotated"],
    body: { schema: rotateRequestSchema, example: { overlap_hours: 2 }, optional: true },
    success: { description: "The new secret; shown only once.", schema: newKeySchema },
    problems: ["not-found", "conflict"],
  },
  listTokens: {
    summary: "List your own tokens",
    access: "user",
    success: { description: "Tokens, without their secrets.", schema: keyListSchema },
  },
  createToken: {
    summary: "Create a token for yourself, for /latest/",
    description:
      "Its permissions are those that both its scopes and its user's role allow, checked on every request.",
    access: "person",
    audit: ["key.created"],
    body: {
      schema: keyRequestSchema,
      example: { name: "nightly export", scopes: ["devices:read"], expires_in_days: 30 },
      optional: true,
    },
    success: { status: 201, description: "The token; shown only once.", schema: newKeySchema },
  },
  revokeToken: {
    summary: "Revoke one of your own tokens",
    access: "user",
    audit: ["key.revoked"],
    success: { status: 204, description: "Revoked from the next request on." },
    problems: ["not-found"],
  },
} satisfies OperationContracts;
