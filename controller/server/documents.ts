import { z } from "zod";
import { text } from "./fields.ts";

/**
 * Schemas of requests and answers. Requests are strict, so that a misspelt member is an error. Where clients
 * existed before this server (z.object), unknown members are ignored and listed in X-Ignored-Fields.
 */
export * from "./audit/audit-documents.ts";
export * from "./devices/device-documents.ts";
export * from "./keys/key-documents.ts";
export * from "./users/user-documents.ts";

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
