import { z } from "zod";
import { auditQuerySchema, auditSchema, eventsQuerySchema } from "./audit/audit-documents.ts";
import type { Contract } from "./contract.ts";
import { deviceContracts } from "./devices/device-documents.ts";
import { keyContracts } from "./keys/key-documents.ts";
import type { ControllerOperation } from "./routes.ts";
import { userContracts } from "./users/user-documents.ts";

const okSchema = z.strictObject({ status: z.literal("ok") }).meta({ id: "Ok" });

const each = {
  health: {
    summary: "Health check",
    access: "anyone",
    success: { description: "The server is up.", schema: okSchema },
  },
  ...deviceContracts,
  ...keyContracts,
  ...userContracts,
  listAudit: {
    summary: "Read the audit log",
    access: { scope: "audit:read" },
    query: auditQuerySchema,
    success: { description: "Rows, newest first unless `after` is given.", schema: auditSchema },
  },
  streamEvents: {
    summary: "Stream device events",
    description: "Server-sent events; Last-Event-ID and `after` continue where a client stopped.",
    access: { scope: "devices:read" },
    query: eventsQuerySchema,
    success: { description: "An endless stream.", type: "text/event-stream" },
    problems: ["busy"],
  },
  readOpenApi: {
    summary: "This OpenAPI description",
    access: "anyone",
    success: { description: "OpenAPI 3.1.", schema: z.looseObject({}) },
  },
  readDocs: {
    summary: "This API as a page",
    access: "anyone",
    success: { description: "A page.", type: "text/html" },
  },
} satisfies Record<ControllerOperation, Contract>;

export const contracts: Record<ControllerOperation, Contract> = each;

/** The document that an operation answers with. */
export type AnswerOf<Operation extends ControllerOperation> = (typeof each)[Operation]["success"] extends {
  schema: z.ZodType<infer Body>;
}
  ? Body
  : undefined;
