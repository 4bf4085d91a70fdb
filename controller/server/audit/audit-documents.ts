import { z } from "zod";
import { line, moment, pageSize, text } from "../fields.ts";

const seq = (description: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, "Expected a number of at most 15 digits")
    .optional()
    .describe(description);

export const auditQuerySchema = z.strictObject({
  target: line(255).optional().describe("Id of a device, user or key."),
  code: line(64).optional().describe("Only changes of this kind, such as device.state."),
  after: seq("Only rows after this seq."),
  before: seq("Only rows before this seq, newest first."),
  limit: pageSize("1 to 1000; default: 100."),
});
export const auditSchema = z
  .strictObject({
    audit_log: z.array(
      z.strictObject({
        seq: z.int().describe("Number of the row."),
        at: moment,
        actor: z.strictObject({
          kind: text.describe("key, token, user, device, host or nobody."),
          id: text.nullable(),
          name: text.nullable(),
          ip: text.nullable().describe("Address of the client."),
        }),
        request_id: text.nullable().describe("The X-Request-Id of the request."),
        code: text.describe("Kind of change."),
        target: z.strictObject({ kind: text, id: text }).nullable(),
        before: z.looseObject({}).nullable(),
        after: z.looseObject({}).nullable(),
        hash: text.describe("HMAC that chains the row to the previous one."),
      }),
    ),
  })
  .meta({ id: "AuditLog" });
export const eventsQuerySchema = z.strictObject({
  after: seq("Events after this id; default: from now on."),
});
