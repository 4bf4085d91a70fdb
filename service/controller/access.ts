/** What credentials may be for. */
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

/** What keys and tokens can be made for: users are changed in a session only. */
export const keyScopes = scopes.filter((scope) => scope !== "users:write");

/** From all to least. */
export const roles = ["Owner", "FullAdministrator", "LimitedAdministrator", "User"] as const;
export type Role = (typeof roles)[number];

export interface User {
  id: string;
  name: string | null;
  /** A user has one of email and username at least. */
  email: string | null;
  username: string | null;
  role: Role;
  status: "Active" | "Disabled";
  authz_devices: boolean;
  authz_policies: boolean;
  authz_control_panel: boolean;
  /** The same right under its other name. */
  authz_control_plane: boolean;
  authz_users: boolean;
}

/** A key or a token, as it was sent. */
interface Holder {
  id: string;
  name: string | null;
  scopes: ReadonlySet<Scope>;
  expires: string | null;
  /** Of the secret that was sent: during an overlap a key has two. */
  digest: string;
}

/** Who asks, as far as credentials tell. */
export type Principal =
  | ({ kind: "key" } & Holder)
  | ({ kind: "token"; user: User } & Holder)
  | { kind: "session"; id: string; scopes: ReadonlySet<Scope>; user: User };

/** Who may do something. */
export type Access =
  | "anyone"
  /** Whoever has a key or a token, about that. */
  | "holder"
  /** Every user, about themselves. */
  | "user"
  /** As `user`, and only signed in with a password. */
  | "person"
  | { scope: Scope; by?: readonly Principal["kind"][] };

/** v0 knows API keys and sessions; latest knows users' tokens too. */
export type Alias = "v0" | "latest";

/**
 * Whether a request may go on.
 * @returns undefined: yes; otherwise the problem it is answered with
 */
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

function isAllowed(access: Exclude<Access, "anyone">, principal: Principal): boolean {
  if (access === "holder") return principal.kind !== "session";
  if (access === "user") return principal.kind !== "key";
  if (access === "person") return principal.kind === "session";
  const by = access.by ?? ["key", "token", "session"];
  return by.includes(principal.kind) && principal.scopes.has(access.scope);
}

/** What a user may do now, whatever they signed in with. */
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

/** Owners decide on everybody; others on whoever has less to say than they, and Full Administrators on each other. */
export function mayDecideOn(actor: Role, role: Role): boolean {
  if (actor === "Owner") return true;
  if (actor === "FullAdministrator") return role !== "Owner";
  return roles.indexOf(actor) < roles.indexOf(role);
}
