import { z } from "zod";
import { text } from "./fields.ts";

export const scopes = [
  "devices:read",
  "devices:state",
  "devices:write",
  "api_keys:read",
  "api_keys:write",
  "users:read",
  "users:write",
  "audit:read",
  "packages:write",
] as const;
export type Scope = (typeof scopes)[number];

/** API keys and tokens cannot have `users:write`, because users are changed only in a session. */
export const keyScopes = scopes.filter((scope) => scope !== "users:write");

/** Scopes of a key that is created without any: enough to accept devices, and no more. */
export const usualScopes: readonly Scope[] = ["devices:read", "devices:state"];

/** From most to least powerful. */
export const roles = ["Owner", "FullAdministrator", "LimitedAdministrator", "User"] as const;
export type Role = (typeof roles)[number];

/** Rights that only a LimitedAdministrator uses. */
export const userFlags = ["authz_devices", "authz_policies", "authz_control_panel", "authz_users"] as const;

export const userSchema = z
  .strictObject({
    id: z.uuid(),
    name: text.nullable(),
    /** At least one of email and username is set. */
    email: text.nullable(),
    username: text.nullable().describe("Alternative name for signing in."),
    role: z.enum(roles),
    status: z.enum(["Active", "Disabled"]),
    authz_devices: z.boolean().describe("A Limited Administrator's permission for devices."),
    authz_policies: z.boolean().describe("A Limited Administrator's permission for policies."),
    authz_control_panel: z
      .boolean()
      .describe("A Limited Administrator's permission to read the audit log and list API keys."),
    authz_control_plane: z.boolean().describe("Alias of authz_control_panel."),
    authz_users: z.boolean().describe("A Limited Administrator's permission for users."),
  })
  .meta({ id: "User", description: "A user of the controller." });
export type User = z.infer<typeof userSchema>;

/** Display name in the audit log and in messages. */
export const nameOfUser = ({ email, username }: Pick<User, "email" | "username">): string =>
  email ?? username ?? "";

/** Answers and pages announce the end of a key this long before it. */
export const expiryWarningMilliseconds = 14 * 86_400_000;

interface Holder {
  id: string;
  name: string | null;
  scopes: ReadonlySet<Scope>;
  expires: string | null;
  /** Digest of the presented secret: during an overlap, a key has two valid secrets. */
  digest: string;
}

export type Principal =
  | ({ kind: "key" } & Holder)
  | ({ kind: "token"; user: User } & Holder)
  | { kind: "session"; id: string; scopes: ReadonlySet<Scope>; user: User };

/** Identifies the holder of a key again, within a transaction. */
export interface Later {
  id: string;
  /** @param row the key as it is then @returns undefined: not valid, or without the right */
  principal(row: object | undefined): Principal | undefined;
}

export type Access =
  | "anyone"
  /** The holder of an API key or token, acting on that key or token. */
  | "holder"
  /** A user, acting on their own account. */
  | "user"
  /** Like `user`, but only with a password session. */
  | "person"
  | { scope: Scope; by?: readonly Principal["kind"][] };

/** v0 accepts API keys and sessions; latest also accepts users' tokens. */
export type Alias = "v0" | "latest";

/** @returns why the principal may not do this; undefined: it may */
export function refusalOf(
  access: Access,
  principal: Principal | undefined,
  alias: Alias,
): "unauthorized" | "forbidden" | "wrong-alias" | undefined {
  if (access === "anyone") return undefined;
  if (!principal) return "unauthorized";
  if (principal.kind === "token" && alias === "v0") return "wrong-alias";
  return isAllowed(access, principal) ? undefined : "forbidden";
}

const isAllowed = (access: Access, principal: Principal): boolean =>
  kindsOf(access).includes(principal.kind) &&
  (typeof access === "string" || principal.scopes.has(access.scope));

export const kindsOf = (access: Access): readonly Principal["kind"][] =>
  typeof access === "string" ? kindsThat[access] : (access.by ?? ["key", "token", "session"]);

const kindsThat: Record<Extract<Access, string>, readonly Principal["kind"][]> = {
  anyone: [],
  holder: ["key", "token"],
  user: ["token", "session"],
  person: ["session"],
};
const wrongKind: Record<Principal["kind"], string> = {
  key: "API keys cannot do this: sign in as a user.",
  token: "Tokens cannot do this: sign in with a password.",
  session: "Sessions cannot do this: send an API key or a token.",
};

/** Explains `forbidden`. @returns undefined: the user's role does not allow it */
export function lackOf(access: Exclude<Access, "anyone">, { kind }: Principal): string | undefined {
  if (typeof access === "string" || !kindsOf(access).includes(kind)) return wrongKind[kind];
  return kind === "session" ? undefined : `The scope ${access.scope} is missing.`;
}

/** Current rights of the user, however they signed in. */
export function rightsOf({
  role,
  authz_devices,
  authz_control_panel,
  authz_users,
}: User): ReadonlySet<Scope> {
  if (role === "Owner" || role === "FullAdministrator") return new Set(scopes);
  if (role === "User") return new Set();
  const limited: Scope[] = [];
  if (authz_devices) limited.push("devices:read", "devices:state", "devices:write");
  if (authz_control_panel) limited.push("audit:read", "api_keys:read");
  if (authz_users) limited.push("users:read", "users:write");
  return new Set(limited);
}

export const intersection = (one: Iterable<Scope>, other: ReadonlySet<Scope>): ReadonlySet<Scope> =>
  new Set([...one].filter((scope) => other.has(scope)));

/** Owners may decide on everyone; other roles only on lower roles, and Full Administrators also on each other. */
export function mayDecideOn(actor: Role, role: Role): boolean {
  if (actor === "Owner") return true;
  if (actor === "FullAdministrator") return role !== "Owner";
  return roles.indexOf(actor) < roles.indexOf(role);
}
