import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { mayDecideOn, type Role, userFlags } from "../access.ts";
import { userOfRow } from "../auth/authenticate.ts";
import { hashPassword } from "../auth/passwords.ts";
import {
  type Answer,
  at,
  type Call,
  callingUser,
  canonicalId,
  invalid,
  Refused,
  type Writing,
  write,
} from "../call.ts";
import type { UserRow } from "../store/schema.ts";
import type { upsertRequestSchema } from "./user-documents.ts";
import {
  comparable,
  endSessions,
  readUserRow,
  requireNamed,
  requireOtherOwner,
  requireUnique,
} from "./user-rows.ts";

type UserRequest = z.infer<typeof upsertRequestSchema>;
type NewUser = Omit<UserRow, "ordinal">;

const unknown = () => new Refused("not-found", "There is no such user.");

export async function listUsers({ controller: { database } }: Call): Promise<Answer> {
  const rows = await database.read.selectFrom("users").selectAll().orderBy("ordinal").execute();
  return { status: 200, body: Object.fromEntries(rows.map((row) => [row.id, userOfRow(row)])) };
}

export async function readUser({ controller: { database }, params }: Call): Promise<Answer> {
  const row = await readUserRow(database.read, canonicalId(params.id));
  if (!row) throw unknown();
  return { status: 200, body: userOfRow(row) };
}

/** `POST user/upsert`: changes a user, or creates one, with the id that the client may have chosen. */
export async function upsertUser(call: Call<UserRequest>): Promise<Answer> {
  const { password } = call.body;
  const id = call.body.id === undefined ? undefined : canonicalId(call.body.id);
  const hashed = password === undefined ? undefined : await hashPassword(password);
  const { row, isNew } = await write(call, async (writing) => {
    const known = id === undefined ? undefined : await readUserRow(writing.transaction, id);
    return known
      ? changeUser(call, writing, known, hashed)
      : insertUser(writing, newUser(call, id ?? randomUUID(), hashed));
  });
  return { status: isNew ? 201 : 200, body: userOfRow(row) };
}

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** @throws Refused for missing values, and for a role that the actor may not grant */
function newUser(call: Call<UserRequest>, id: string, password: string | undefined): NewUser {
  if (!uuidV4.test(id)) throw invalid("/id", "uuid", "A new user's id is a UUID v4.");
  const user = { ...blank(null, call.now), id, password: password ?? null };
  requireMayDecide(call, user.role as Role);
  return withRequest(call, user);
}

export const blank = (email: string | null, now: number): NewUser => ({
  id: randomUUID(),
  name: null,
  email: email === null ? null : comparable(email),
  username: null,
  role: "User",
  status: "Active",
  authz_devices: 0,
  authz_policies: 0,
  authz_control_panel: 0,
  authz_users: 0,
  password: null,
  created_at: at(now),
});

function withRequest<Row extends NewUser>(call: Call<UserRequest>, user: Row): Row {
  const { id: _, password: _password, authz_control_plane: plane, email, username, ...values } = call.body;
  const panel = values.authz_control_panel ?? plane;
  if (plane !== undefined && plane !== panel) {
    const detail = "authz_control_panel and authz_control_plane are one right: send one, or both alike.";
    throw invalid("/authz_control_plane", "contradiction", detail);
  }
  const changes = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === "boolean" ? Number(value) : value]),
  );
  const after: Row = {
    ...user,
    ...changes,
    ...(panel !== undefined && { authz_control_panel: Number(panel) }),
    ...(email !== undefined && { email: email === null ? null : comparable(email) }),
    ...(username !== undefined && { username: username === null ? null : comparable(username) }),
  };
  requireNamed(after);
  requireMayDecide(call, after.role as Role);
  requireMayGive(call, user, after);
  return after;
}

function requireMayDecide(call: Call, role: Role): void {
  const actor = actorRole(call);
  if (mayDecideOn(actor, role)) return;
  throw new Refused("forbidden", `A user with the role ${actor} cannot change one with the role ${role}.`);
}

/** The flags are inactive in other roles, but a later change of the role would make them effective. */
function requireMayGive(call: Call, before: NewUser, after: NewUser): void {
  const actor = actorRole(call);
  const given = userFlags.filter((flag) => after[flag] > before[flag]);
  if (given.length === 0 || mayDecideOn(actor, "LimitedAdministrator")) return;
  throw new Refused(
    "forbidden",
    `A user with the role ${actor} cannot give these rights to a user of any role: ${given.join(", ")}.`,
  );
}

const actorRole = (call: Call): Role => callingUser(call)?.role ?? "User";

/** @throws Refused if the email address or username is taken */
export async function insertUser(
  { transaction, record }: Writing,
  user: NewUser,
): Promise<{ row: UserRow; isNew: boolean }> {
  await requireUnique(transaction, user);
  await transaction.insertInto("users").values(user).execute();
  record({ code: "user.created", target: { kind: "user", id: user.id }, after: audited(user) });
  return { row: { ...user, ordinal: 0 }, isNew: true };
}

async function changeUser(
  call: Call<UserRequest>,
  { transaction, record }: Writing,
  before: UserRow,
  password: string | undefined,
): Promise<{ row: UserRow; isNew: boolean }> {
  const { id } = before;
  requireMayDecide(call, before.role as Role);
  const after = withRequest(call, before);
  const isOwn = callingUser(call)?.id === id;
  if (isOwn && rightsChange(before, after))
    throw new Refused("forbidden", "Users cannot change their own role, rights or status.");
  if (isOwn && password !== undefined)
    throw new Refused("forbidden", "Change your own password at user/me, with the current one.");
  if (isActiveOwner(before) && !isActiveOwner(after)) await requireOtherOwner(transaction, id);
  await requireUnique(transaction, after);
  const {
    ordinal: _,
    id: _id,
    created_at: _created,
    ...values
  } = { ...after, ...(password !== undefined && { password }) };
  await transaction.updateTable("users").set(values).where("id", "=", id).execute();
  if (after.status !== "Active" || password !== undefined) await endSessions(transaction, id);
  const target = { kind: "user", id } as const;
  const [was, is] = [audited(before), audited(after)];
  if (JSON.stringify(was) !== JSON.stringify(is))
    record({ code: "user.updated", target, before: was, after: is });
  if (password !== undefined) record({ code: "user.password", target });
  return { row: after, isNew: false };
}

const isActiveOwner = ({ role, status }: UserRow): boolean => role === "Owner" && status === "Active";

const rights = ["role", "status", ...userFlags] as const;
const rightsChange = (before: UserRow, after: UserRow): boolean =>
  rights.some((name) => before[name] !== after[name]);

const audited = ({ password: _, created_at: _created, ...user }: NewUser) => {
  const { ordinal: _ordinal, ...rest } = user as Partial<UserRow>;
  return rest;
};

/** `DELETE user/{id}`: only for a disabled user. Their API keys stay valid; tokens and sessions are removed. */
export async function deleteUser(call: Call): Promise<Answer> {
  const id = canonicalId(call.params.id);
  await write(call, async ({ transaction, record }) => {
    const row = await readUserRow(transaction, id);
    if (!row) throw unknown();
    requireMayDecide(call, row.role as Role);
    if (row.status !== "Disabled") throw new Refused("conflict", "The user is active: disable them first.");
    await transaction.deleteFrom("users").where("id", "=", id).execute();
    await endSessions(transaction, id);
    await transaction
      .updateTable("devices")
      .set({ assigned_to_user: null })
      .where("assigned_to_user", "=", id)
      .execute();
    await transaction
      .updateTable("keys")
      .set({ revoked_at: at(call.now), previous_digest: null, previous_until: null })
      .where("owner", "=", id)
      .where("revoked_at", "is", null)
      .execute();
    record({ code: "user.deleted", target: { kind: "user", id }, before: audited(row) });
  });
  return { status: 204 };
}
