import { idsOnly, type OperationContracts } from "../contract.ts";
import {
  loginRequestSchema,
  meChangeSchema,
  meSchema,
  upsertRequestSchema,
  userAnswerSchema,
  userMapSchema,
  userSchema,
} from "./user-documents.ts";

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
    problems: idsOnly,
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
