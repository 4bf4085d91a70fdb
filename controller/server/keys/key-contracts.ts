import { idsOnly, type OperationContracts } from "../contract.ts";
import {
  keyChangeSchema,
  keyListSchema,
  keyRequestSchema,
  keySchema,
  newKeySchema,
  rotateRequestSchema,
} from "./key-documents.ts";

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
    problems: idsOnly,
  },
  revokeApiKey: {
    summary: "Revoke an API key permanently",
    access: { scope: "api_keys:write" },
    audit: ["key.revoked"],
    success: { status: 204, description: "Revoked from the next request on." },
    problems: idsOnly,
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
    problems: idsOnly,
  },
} satisfies OperationContracts;
