import type { Kysely } from "kysely";
import type { z } from "zod";
import { keyScopes, type Scope } from "../access.ts";
import { scopesOf } from "../auth/authenticate.ts";
import { at, invalid } from "../call.ts";
import type { Controller } from "../controller.ts";
import { digestOf, newSecret } from "../secrets.ts";
import type { KeyRow, Schema } from "../store/schema.ts";
import type { keyRequestSchema, keySchema, newKeySchema } from "./key-documents.ts";

const day = 24 * 3_600_000;

/** Scopes of a key that is created without any: enough to accept devices, and no more. */
const usualScopes: readonly Scope[] = ["devices:read", "devices:state"];

/** A key for lists, without its secret or digest. */
export const keyOf = (row: KeyRow): z.infer<typeof keySchema> => ({
  id: row.id,
  name: row.name,
  scopes: [...scopesOf(row)],
  created_by: row.created_by,
  created_at: row.created_at,
  expires_at: row.expires_at,
  disabled: row.disabled !== 0,
  revoked_at: row.revoked_at,
  last_used_at: row.last_used_at,
  previous_until: row.previous_until,
});

/** A key with its secret, which is shown only once. */
export const newKeyOf = (row: Omit<KeyRow, "ordinal">, key: string): z.infer<typeof newKeySchema> => ({
  id: row.id,
  key,
  name: row.name,
  scopes: [...scopesOf(row)],
  created_at: row.created_at,
  expires_at: row.expires_at,
  ...(row.previous_until !== null && { previous_until: row.previous_until }),
});

export interface NewKey {
  id: string;
  /** Owner of a token; null for API keys. */
  owner: string | null;
  createdBy: string;
  /** The creator's rights, which the key cannot exceed. */
  rights: ReadonlySet<Scope>;
}

/** @throws Refused for rights beyond the creator's, or too long a lifetime */
export function makeKey(
  { pepper, settings }: Pick<Controller, "pepper" | "settings">,
  { id, owner, createdBy, rights }: NewKey,
  { name = null, scopes: asked, expires_in_days = null }: z.infer<typeof keyRequestSchema>,
  now: number,
): { row: Omit<KeyRow, "ordinal">; secret: string } {
  const { prefixes, keyLife } = settings;
  const secret = newSecret(owner === null ? prefixes.key : prefixes.token);
  const row = {
    id,
    owner,
    name,
    scopes: JSON.stringify(expand(asked ?? usualScopes.filter((scope) => rights.has(scope)), rights)),
    digest: digestOf(pepper, "key", id, secret),
    previous_digest: null,
    previous_until: null,
    created_by: createdBy,
    created_at: at(now),
    rotated_at: null,
    expires_at: endOf(expires_in_days, keyLife, now),
    disabled: 0,
    revoked_at: null,
    last_used_at: null,
  };
  return { row, secret };
}

function expand(asked: readonly string[], rights: ReadonlySet<Scope>): Scope[] {
  const meant = new Set(
    asked.flatMap((scope) =>
      scope.endsWith(":*")
        ? keyScopes.filter((each) => each.startsWith(scope.slice(0, -1)))
        : [scope as Scope],
    ),
  );
  const excess = [...meant].filter((scope) => !rights.has(scope));
  if (excess.length > 0) {
    throw invalid(
      "/scopes",
      "excess",
      `A key cannot have more rights than its creator, who lacks ${excess.join(", ")}.`,
    );
  }
  return keyScopes.filter((scope) => meant.has(scope));
}

function endOf(
  asked: number | "never" | null,
  { defaultDays, maxDays, never }: Controller["settings"]["keyLife"],
  now: number,
): string | null {
  if (asked === "never") {
    if (never) return null;
    throw invalid("/expires_in_days", "never", `Keys expire after ${maxDays} days at most here.`);
  }
  const days = asked ?? defaultDays;
  if (days > maxDays)
    throw invalid("/expires_in_days", "too-long", `Keys expire after ${maxDays} days at most here.`);
  return at(now + days * day);
}

export const readKey = (database: Kysely<Schema>, id: string): Promise<KeyRow | undefined> =>
  database.selectFrom("keys").selectAll().where("id", "=", id).executeTakeFirst();
