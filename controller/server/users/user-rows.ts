import type { Kysely } from "kysely";
import type { Role } from "../access.ts";
import { invalid, Refused } from "../call.ts";
import type { Schema, UserRow } from "../store/schema.ts";

export const readUserRow = (database: Kysely<Schema>, id: string): Promise<UserRow | undefined> =>
  database.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirst();

/** Names and addresses are case-insensitive; the original spelling is not stored. */
export const comparable = (name: string): string => name.normalize("NFC").toLowerCase();

/** @throws Refused for a user without email and username, who could not sign in */
export function requireNamed({ email, username }: Pick<UserRow, "email" | "username">): void {
  if (email !== null || username !== null) return;
  throw invalid("/email", "missing", "A user needs an email address or a user name.");
}

/** @throws Refused if another user has the email address or username */
export async function requireUnique(
  transaction: Kysely<Schema>,
  { id, email, username }: Pick<UserRow, "id" | "email" | "username">,
): Promise<void> {
  const names = [email, username].filter((name) => name !== null);
  const other = await transaction
    .selectFrom("users")
    .select(["id", "email"])
    .where("id", "!=", id)
    .where(({ eb, or }) => or([eb("email", "in", names), eb("username", "in", names)]))
    .executeTakeFirst();
  if (!other) return;
  throw new Refused(
    "conflict",
    email !== null && other.email === email
      ? "Someone else has this email address."
      : "Someone else has this user name.",
  );
}

/** Protects the last active Owner, because only an Owner can create another. @throws Refused */
export async function requireOtherOwner(transaction: Kysely<Schema>, id: string): Promise<void> {
  const owner: Role = "Owner";
  const other = await transaction
    .selectFrom("users")
    .select("id")
    .where("role", "=", owner)
    .where("status", "=", "Active")
    .where("id", "!=", id)
    .executeTakeFirst();
  if (!other) throw new Refused("conflict", "This is the last active Owner: create another one first.");
}

/** Ends a user's sessions. @param except digest of the session to keep */
export async function endSessions(transaction: Kysely<Schema>, user: string, except = ""): Promise<void> {
  await transaction
    .deleteFrom("sessions")
    .where("user_id", "=", user)
    .where("digest", "!=", except)
    .execute();
}
