import type { Kysely } from "kysely";
import type { Role } from "../access.ts";
import { invalid, Refused } from "../problems.ts";
import type { Schema, UserRow } from "../store/schema.ts";

export const readUserRow = (database: Kysely<Schema>, id: string): Promise<UserRow | undefined> =>
  database.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirst();

/** Addresses and names are compared without case; how they were written is not kept. */
export const comparable = (name: string): string => name.normalize("NFC").toLowerCase();

/** Who the audit log and messages say a user is. */
export const nameOfUser = ({ email, username }: Pick<UserRow, "email" | "username">): string =>
  email ?? username ?? "";

/** @throws Refused for a user whom nobody could name, and who could not sign in */
export function requireNamed({ email, username }: Pick<UserRow, "email" | "username">): void {
  if (email !== null || username !== null) return;
  throw invalid("/email", "missing", "A user needs an email address or a user name.");
}

/** @throws Refused where somebody else has the address or the name already */
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
      ? "Somebody else has this email address."
      : "Somebody else has this user name.",
  );
}

/** The last active Owner stays: nobody else could make another one. @throws Refused */
export async function requireOtherOwner(transaction: Kysely<Schema>, id: string): Promise<void> {
  const owner: Role = "Owner";
  const other = await transaction
    .selectFrom("users")
    .select("id")
    .where("role", "=", owner)
    .where("status", "=", "Active")
    .where("id", "!=", id)
    .executeTakeFirst();
  if (!other) throw new Refused("conflict", "This is the last active Owner: make another one first.");
}

/** Ends sessions of a user. @param except digest of the one that goes on */
export async function endSessions(transaction: Kysely<Schema>, user: string, except = ""): Promise<void> {
  await transaction
    .deleteFrom("sessions")
    .where("user_id", "=", user)
    .where("digest", "!=", except)
    .execute();
}
