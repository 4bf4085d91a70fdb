import type { Kysely } from "kysely";
import type { Role } from "../access.ts";
import { Refused } from "../problems.ts";
import type { Schema, UserRow } from "../store/schema.ts";

export const readUserRow = (database: Kysely<Schema>, id: string): Promise<UserRow | undefined> =>
  database.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirst();

/** Addresses and names are compared without case; how they were written is not kept. */
export const comparable = (name: string): string => name.normalize("NFC").toLowerCase();

/** @throws Refused where somebody else has the address or the name already */
export async function requireUnique(
  transaction: Kysely<Schema>,
  { id, email, username }: Pick<UserRow, "id" | "email" | "username">,
): Promise<void> {
  const names = [email, ...(username === null ? [] : [username])];
  const other = await transaction
    .selectFrom("users")
    .select(["id", "email"])
    .where("id", "!=", id)
    .where(({ eb, or }) => or([eb("email", "in", names), eb("username", "in", names)]))
    .executeTakeFirst();
  if (!other) return;
  throw new Refused(
    "conflict",
    other.email === email ? "Somebody else has this email address." : "Somebody else has this user name.",
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
