import { z } from "zod";
import { roles, userSchema } from "../access.ts";
import type { OperationContracts } from "../contract.ts";
import { deviceSchema } from "../devices/device-documents.ts";
import { line } from "../fields.ts";

export { userSchema } from "../access.ts";

const userMapSchema = z.record(z.uuid(), userSchema).meta({ id: "Users", description: "By id." });
const userAnswerSchema = z.strictObject({ user: userSchema }).meta({ id: "UserAnswer" });
const meSchema = z
  .strictObject({ user: userSchema, devices: z.record(z.uuid(), deviceSchema) })
  .meta({ id: "Me" });
/** NIST SP 800-63B: require length, not character classes. */
const password = z.string().min(12).max(1024);
const email = z.email().max(255);
export const loginRequestSchema = z
  .object({
    email: line(255).optional(),
    email_or_username: line(255).optional().describe("Either of the two."),
    password: z.string().min(1).max(1024),
  })
  .meta({ id: "LoginRequest", description: "One of email and email_or_username." });
export const meChangeSchema = z
  .object({
    name: line(255).nullable().optional(),
    username: line(64).nullable().optional().describe("Alternative name for signing in."),
    password: password.optional(),
    current_password: z.string().max(1024).optional().describe("Required for a new password."),
  })
  .meta({ id: "MeChange" });
export const upsertRequestSchema = z
  .object({
    id: line(64).optional().describe("Id of the user to change, or the UUID v4 of a new user."),
    email: email.nullable().optional().describe("Compared without case."),
    name: line(255).nullable().optional(),
    username: line(64).nullable().optional().describe("Alternative name for signing in."),
    role: z.enum(roles).optional(),
    status: z.enum(["Active", "Disabled"]).optional(),
    authz_devices: z.boolean().optional().describe("A Limited Administrator's permission for devices."),
    authz_policies: z.boolean().optional().describe("A Limited Administrator's permission for policies."),
    authz_control_panel: z
      .boolean()
      .optional()
      .describe("A Limited Administrator's permission to read the audit log and list API keys."),
    authz_control_plane: z
      .boolean()
      .optional()
      .describe("Alias of authz_control_panel; send one of them, or both with the same value."),
    authz_users: z.boolean().optional().describe("A Limited Administrator's permission for users."),
    password: password.optional(),
  })
  .meta({
    id: "UserRequest",
    description:
      "Changes the user with this id, or creates one. A user has an email address, a user name, or both.",
  });

export const userContracts = {
  login: {
    summary: "Sign in",
    access: "anyone",
    rate: "login",
    audit: ["session.opened", "auth.failed"],
    body: {
      schema: loginRequestSchema,
      example: { email: "ada@example.com", password: "correct horse battery staple" },
    },
    success: { description: "The user; the session is in a cookie.", schema: userAnswerSchema },
    problems: ["unauthorized", "cross-origin", "busy"],
  },
  logout: {
    summary: "Sign out",
    access: "person",
    audit: ["session.closed"],
    success: { status: 204, description: "The session has ended." },
  },
  readMe: {
    summary: "Read the signed-in user",
    access: "user",
    success: { description: "The user, and the devices assigned to them.", schema: meSchema },
  },
  changeMe: {
    summary: "Change your own name or password",
    description: "A new password needs the current one, and ends all other sessions.",
    access: "person",
    audit: ["user.updated", "user.password"],
    body: {
      schema: meChangeSchema,
      example: { password: "another long password", current_password: "correct horse battery staple" },
      optional: true,
    },
    success: { description: "The user, and the devices assigned to them.", schema: meSchema },
    problems: ["conflict", "busy"],
  },
  listUsers: {
    summary: "List users",
    access: { scope: "users:read" },
    success: { description: "Users by id.", schema: userMapSchema },
  },
  readUser: {
    summary: "Read a user",
    access: { scope: "users:read" },
    success: { description: "The user.", schema: userSchema },
    problems: ["not-found"],
  },
  deleteUser: {
    summary: "Delete a disabled user",
    access: { scope: "users:write", by: ["session"] },
    audit: ["user.deleted"],
    success: { status: 204, description: "Deleted." },
    problems: ["not-found", "conflict"],
  },
  upsertUser: {
    summary: "Create or change a user",
    description:
      "Only Owners change Owners. The last active Owner cannot be removed. No user can change their own role.",
    access: { scope: "users:write", by: ["session"] },
    audit: ["user.created", "user.updated", "user.password"],
    body: {
      schema: upsertRequestSchema,
      example: { email: "ben@example.com", role: "LimitedAdministrator", authz_devices: true },
    },
    success: { also: 201, description: "The user; 201 if it is new.", schema: userSchema },
    problems: ["conflict"],
  },
} satisfies OperationContracts;
