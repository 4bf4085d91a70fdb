import { type RawBuilder, sql } from "kysely";
import type { ServerRequest } from "../../../service/http/request.ts";
import {
  type Access,
  type Alias,
  intersection,
  type Later,
  type Principal,
  refusalOf,
  rightsOf,
  type Scope,
  type User,
} from "../access.ts";
import { at } from "../call.ts";
import type { Controller } from "../controller.ts";
import { digestOf, isSameDigest } from "../secrets.ts";
import { deviceText } from "../store/device-text.ts";
import { batched } from "../store/group.ts";
import { itemsOf, prepared, rowAsText, rowsAsText, valuesOf } from "../store/prepared.ts";
import type { Database, DatabaseKind, KeyRow, UserRow } from "../store/schema.ts";
import { readCredentials } from "./credentials.ts";

/** Reason for rejected credentials, recorded in the audit log but never sent to the client. */
export type Failure = "malformed" | "unknown" | "wrong" | "expired" | "disabled" | "revoked" | "braked";

export type Identified = { principal: Principal; device?: string | null } | { failure: Failure; id?: string };

/**
 * Identifies the holder of the credentials. Every request reads the database, so that a revocation takes effect at once.
 * @param device of a key's request; its JSON text is read in the same statement
 */
export async function identify(
  controller: Controller,
  request: Pick<ServerRequest, "header">,
  now: number,
  device: string | null = null,
): Promise<Identified | undefined> {
  const credentials = readCredentials(request.header("authorization"), request.header("cookie"));
  if (credentials.kind === "none") return undefined;
  if (credentials.kind === "malformed") return { failure: "malformed" };
  if (credentials.kind === "session") return identifySession(controller, credentials.secret, now);
  const found = await readerOf(controller.database)([credentials.id, device]);
  const row = found.key === null ? undefined : (JSON.parse(found.key) as KeyColumns);
  if (row) recent.set(credentials.id, row);
  const identified = identifyPair(digestOfPair(controller, credentials), row, now);
  return device !== null && "principal" in identified ? { ...identified, device: found.device } : identified;
}

/** @returns undefined: the request has no key or token */
export function identifyLater(
  controller: Controller,
  request: Pick<ServerRequest, "header">,
  now: number,
  access: Access,
  alias: Alias,
): Later | undefined {
  const credentials = readCredentials(request.header("authorization"), request.header("cookie"));
  if (credentials.kind !== "pair") return undefined;
  const pair = digestOfPair(controller, credentials);
  return {
    id: pair.id,
    principal(row) {
      const identified = identifyPair(pair, row as KeyColumns | undefined, now);
      const principal = "principal" in identified ? identified.principal : undefined;
      return refusalOf(access, principal, alias) ? undefined : principal;
    },
  };
}

const recent = new Map<string, KeyColumns>();

/** A key that was read within a minute. It decides whether a body is read, and nothing else. */
export const recentKey = (id: string, now: number): KeyColumns | undefined =>
  isNoted(id, now) ? recent.get(id) : undefined;

const digestOfPair = ({ pepper }: Controller, { id, secret }: { id: string; secret: string }) => ({
  id,
  digest: digestOf(pepper, "key", id, secret),
});

function identifyPair(
  { id, digest }: ReturnType<typeof digestOfPair>,
  row: KeyColumns | undefined,
  now: number,
): Identified {
  // Also compares for unknown ids, against a digest that cannot match, so that timing reveals nothing.
  const secretUntil = endOfSecret(row, digest);
  if (!row) return { failure: "unknown", id };
  if (secretUntil <= now) return { failure: "wrong", id };
  const failure = failureOf(row, now);
  if (failure) return { failure, id };
  const scopes = scopesOf(row);
  const own = { id, name: row.name, expires: row.expires_at, digest };
  if (row.owner === null) return { principal: { kind: "key", ...own, scopes } };
  if (row.user_id === null) return { failure: "unknown", id };
  const user = userOf(row);
  if (user.status !== "Active") return { failure: "disabled", id };
  const rights = intersection(scopes, rightsOf(user));
  return { principal: { kind: "token", ...own, scopes: rights, user } };
}

const zeroDigest = "0".repeat(64);
const never = Number.POSITIVE_INFINITY;

/** Expiry of the secret with this digest, in milliseconds since 1970; 0: not a secret of this key. */
function endOfSecret(
  row: Pick<KeyRow, "digest" | "previous_digest" | "previous_until"> | undefined,
  digest: string,
): number {
  if (isSameDigest(row?.digest ?? zeroDigest, digest)) return never;
  const isPrevious = isSameDigest(row?.previous_digest ?? zeroDigest, digest);
  return isPrevious ? Date.parse(row?.previous_until ?? "") || 0 : 0;
}

function failureOf(
  { revoked_at, disabled, expires_at }: Pick<KeyRow, "revoked_at" | "disabled" | "expires_at">,
  now: number,
): Failure | undefined {
  if (revoked_at !== null) return "revoked";
  if (disabled !== 0) return "disabled";
  // Compared as numbers, because formatting `now` for each request is measurable. An unreadable time has passed.
  return expires_at !== null && !(Date.parse(expires_at) > now) ? "expired" : undefined;
}

export const scopesOf = ({ scopes }: Pick<KeyRow, "scopes">): ReadonlySet<Scope> =>
  new Set(JSON.parse(scopes));

async function identifySession(
  { database, pepper }: Controller,
  secret: string,
  now: number,
): Promise<Identified> {
  const id = digestOf(pepper, "session", secret);
  const row = await database.read
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.user_id")
    .select(["sessions.expires_at"])
    .select(userColumns)
    .where("sessions.digest", "=", id)
    .executeTakeFirst();
  if (!row) return { failure: "unknown" };
  if (row.expires_at <= at(now)) return { failure: "expired" };
  const user = userOf(row);
  if (user.status !== "Active") return { failure: "disabled" };
  return { principal: { kind: "session", id, user, scopes: rightsOf(user) } };
}

const userColumns = [
  "users.id as user_id",
  "users.name as user_name",
  "users.email",
  "users.username",
  "users.role",
  "users.status",
  "users.authz_devices",
  "users.authz_policies",
  "users.authz_control_panel",
  "users.authz_users",
] as const;

/** Columns are listed, so that a newer relcat can add columns while this one still runs. */
const keyColumns = [
  "keys.owner",
  "keys.name",
  "keys.scopes",
  "keys.digest",
  "keys.previous_digest",
  "keys.previous_until",
  "keys.expires_at",
  "keys.disabled",
  "keys.revoked_at",
] as const;

type KeyColumns = Omit<
  KeyRow,
  "ordinal" | "id" | "created_by" | "created_at" | "rotated_at" | "last_used_at"
> &
  (UserColumns | { user_id: null });
type UserColumns = Omit<UserRow, "ordinal" | "id" | "name" | "password" | "created_at"> & {
  user_id: string;
  user_name: string | null;
};

type KeyQuery = readonly [key: string, device: string | null];

const readers = new WeakMap<Database, ReturnType<typeof batched<KeyQuery, KeyResult>>>();

function readerOf(database: Database) {
  const reader = readers.get(database) ?? batched((asked) => readKeys(database, asked));
  readers.set(database, reader);
  return reader;
}

const readKeys = ({ read }: Database, asked: readonly KeyQuery[]): Promise<KeyResult[]> =>
  keysAndDevices(read, JSON.stringify(asked.map((each, index) => [...each, index])));

/** JSON texts. */
interface KeyResult {
  key: string | null;
  device: string | null;
}

const keysAndDevices = prepared(({ kind }, asked: string) => {
  const [key, device, index] = [0, 1, 2].map((place) => sql`items.value ->> ${sql.lit(place)}`);
  const owned = sql`keys left join users on users.id = keys.owner where keys.id = (${key})`;
  return sql<KeyResult>`select ${rowAsText(kind, [...keyColumns, ...userColumns], owned)} as key, ${deviceText(kind, sql`(${device})`)} as device
    from ${itemsOf(kind, asked)} order by cast(${index} as integer)`;
});

/** The same columns of several keys, as the text of a JSON array. @param ids JSON array */
export const keysAsText = (kind: DatabaseKind, ids: string): RawBuilder<string> =>
  rowsAsText(
    kind,
    ["keys.id", ...keyColumns, ...userColumns],
    sql`keys left join users on users.id = keys.owner where keys.id in ${valuesOf(kind, "text", ids)}`,
  );

function userOf({
  user_id: id,
  user_name: name,
  email,
  username,
  role,
  status,
  ...flags
}: UserColumns): User {
  return {
    id,
    name,
    email,
    username,
    role: role as User["role"],
    status: status as User["status"],
    authz_devices: flags.authz_devices === 1,
    authz_policies: flags.authz_policies === 1,
    authz_control_panel: flags.authz_control_panel === 1,
    authz_control_plane: flags.authz_control_panel === 1,
    authz_users: flags.authz_users === 1,
  };
}

export const userOfRow = ({ id, name, ...row }: UserRow): User =>
  userOf({ ...row, user_id: id, user_name: name });

const minute = 60_000;

/** Time of the last recorded use per key. Once a minute is exact enough, and saves a write per request. */
const noted = new Map<string, number>();

const isNoted = (id: string, now: number): boolean =>
  now - (noted.get(id) ?? Number.NEGATIVE_INFINITY) < minute;

export async function noteUse({ database }: Controller, id: string, now: number): Promise<void> {
  if (isNoted(id, now)) return;
  noted.set(id, now);
  await database.note((writer) =>
    writer
      .updateTable("keys")
      .set({ last_used_at: at(now) })
      .where("id", "=", id)
      .execute(),
  );
}
