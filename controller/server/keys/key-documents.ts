import { z } from "zod";
import { keyScopes, scopes } from "../access.ts";
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
export const keyListSchema = z.strictObject({ api_keys: z.array(keySchema) }).meta({ id: "ApiKeys" });
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
