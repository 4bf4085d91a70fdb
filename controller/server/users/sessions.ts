import type { z } from "zod";
import { nameOfUser } from "../access.ts";
import { userOfRow } from "../auth/authenticate.ts";
import { requireSameSite, sessionCookie } from "../auth/credentials.ts";
import { countFailure, recordFailure, throttleOf } from "../auth/login-throttle.ts";
import { hashPassword, isPassword, waitingForHash } from "../auth/passwords.ts";
import {
  type Answer,
  actorOf,
  at,
  type Call,
  callingUser,
  invalid,
  originOf,
  principalOf,
  Refused,
  tooMany,
  write,
} from "../call.ts";
import { deviceOf } from "../devices/device-rows.ts";
import { digestOf, newSession } from "../secrets.ts";
import type { Actor } from "../store/audit-log.ts";
import type { UserRow } from "../store/schema.ts";
import type { loginRequestSchema, meChangeSchema } from "./user-documents.ts";
import { comparable, endSessions, readUserRow, requireNamed, requireUnique } from "./user-rows.ts";

/** Session lifetime in milliseconds. */
const sessionLife = 12 * 3_600_000;
/** Further logins are rejected instead of queued: each hash needs a core for tens of milliseconds. */
const maxWaiting = 32;

export async function login(call: Call<z.infer<typeof loginRequestSchema>>): Promise<Answer> {
  requireSameSite(call.request, call.caller);
  const { email, email_or_username, password } = call.body;
  const name = email ?? email_or_username;
  if (name === undefined || (email !== undefined && email_or_username !== undefined)) {
    throw invalid("/email", "missing", "Send one of email and email_or_username.");
  }
  const user = await requirePassword(call, comparable(name), password, email !== undefined);
  const cookie = await openSession(call, user);
  return { status: 200, headers: { "Set-Cookie": cookie }, body: { user: userOfRow(user) } };
}

/** @throws Refused with the same message and the same amount of work, whatever is wrong */
async function requirePassword(
  call: Call,
  name: string,
  password: string,
  isEmail: boolean,
): Promise<UserRow> {
  const { controller, caller, now, requestId: request } = call;
  const attempt = [controller, `login ${name}`, caller.remote, now] as const;
  requireNoWait(await throttleOf(...attempt));
  if (waitingForHash() > maxWaiting)
    throw new Refused("busy", "Too many users are signing in at the same time.", {
      headers: { "Retry-After": "2" },
    });
  const user = await controller.database.read
    .selectFrom("users")
    .selectAll()
    .where((where) =>
      isEmail
        ? where("email", "=", name)
        : where.or([where("email", "=", name), where("username", "=", name)]),
    )
    .executeTakeFirst();
  const isRight = await isPassword(password, user?.password ?? null);
  if (user && isRight && user.status === "Active") {
    // Above the limit of concurrent attempts, even a correct password is rejected.
    requireNoWait(await throttleOf(...attempt));
    return user;
  }
  requireNoWait(await countFailure(...attempt));
  const failure = !user ? "unknown" : isRight ? "disabled" : "wrong";
  await recordFailure(
    controller,
    { failure, kind: "user", ...(user && { id: user.id }) },
    { ip: caller.remote, request },
    now,
  );
  throw new Refused("unauthorized", "The name or the password is wrong.");
}

function requireNoWait(seconds: number): void {
  if (seconds > 0) throw tooMany(seconds);
}

/** @returns the session's cookie */
async function openSession(call: Call, user: UserRow): Promise<string> {
  const secret = newSession();
  const digest = digestOf(call.controller.pepper, "session", secret);
  const actor: Actor = { ...actorOf(call), kind: "user", id: user.id, name: nameOfUser(user) };
  await write({ ...call, actor }, async ({ transaction, record }) => {
    // The user may have been disabled, or their password changed, during the comparison.
    const now = await readUserRow(transaction, user.id);
    if (now?.status !== "Active" || now.password !== user.password)
      throw new Refused("unauthorized", "The name or the password is wrong.");
    await transaction.deleteFrom("sessions").where("expires_at", "<", at(call.now)).execute();
    const session = {
      digest,
      user_id: user.id,
      created_at: at(call.now),
      expires_at: at(call.now + sessionLife),
    };
    await transaction.insertInto("sessions").values(session).execute();
    record({ code: "session.opened", target: { kind: "user", id: user.id } });
  });
  return cookieOf(call, secret, sessionLife / 1000);
}

/** Secure, except where the browser sends it only to this machine. */
function cookieOf({ request, caller }: Call, value: string, seconds: number): string {
  const secure = originOf(request, caller).startsWith("https:") ? "; Secure" : "";
  return `${sessionCookie}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

export async function logout(call: Call): Promise<Answer> {
  const { id } = principalOf(call);
  await write(call, async ({ transaction, record }) => {
    await transaction.deleteFrom("sessions").where("digest", "=", id).execute();
    record({ code: "session.closed" });
  });
  return { status: 204, headers: { "Set-Cookie": cookieOf(call, "", 0) } };
}

export const readMe = async (call: Call): Promise<Answer> => answerMe(call, await readOwn(call));

async function readOwn(call: Call): Promise<UserRow> {
  const user = callingUser(call);
  const row = user && (await readUserRow(call.controller.database.read, user.id));
  if (!row) throw new Refused("forbidden", "An API key is not a user.");
  return row;
}

async function answerMe({ controller: { database } }: Call, row: UserRow): Promise<Answer> {
  const devices = await database.read
    .selectFrom("devices")
    .selectAll()
    .where("assigned_to_user", "=", row.id)
    .orderBy("ordinal")
    .execute();
  return {
    status: 200,
    body: {
      user: userOfRow(row),
      devices: Object.fromEntries(devices.map((device) => [device.id, deviceOf(device)])),
    },
  };
}

export async function changeMe(call: Call<z.infer<typeof meChangeSchema>>): Promise<Answer> {
  const { name, username, password, current_password = "" } = call.body;
  const before = await readOwn(call);
  if (password !== undefined)
    await requirePassword(call, nameOfUser(before), current_password, before.email !== null);
  const hashed = password === undefined ? undefined : await hashPassword(password);
  const row = await write(call, async ({ transaction, record }) => {
    const own = await readUserRow(transaction, before.id);
    if (own?.password !== before.password)
      throw new Refused("conflict", "The user was changed in the meantime.");
    const after: UserRow = {
      ...own,
      ...(name !== undefined && { name }),
      ...(username !== undefined && { username: username === null ? null : comparable(username) }),
      ...(hashed !== undefined && { password: hashed }),
    };
    requireNamed(after);
    await requireUnique(transaction, after);
    await transaction
      .updateTable("users")
      .set({ name: after.name, username: after.username, password: after.password })
      .where("id", "=", own.id)
      .execute();
    const target = { kind: "user", id: own.id } as const;
    const audited = (user: UserRow) => ({ name: user.name, username: user.username });
    if (after.name !== own.name || after.username !== own.username) {
      record({ code: "user.updated", target, before: audited(own), after: audited(after) });
    }
    if (hashed !== undefined) {
      await endSessions(transaction, own.id, principalOf(call).id);
      record({ code: "user.password", target });
    }
    return after;
  });
  return answerMe(call, row);
}
