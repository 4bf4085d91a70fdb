import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import type { z } from "zod";
import { keyScopes, type Scope, usualScopes } from "../access.ts";
import { scopesOf } from "../auth/authenticate.ts";
import {
  type Answer,
  at,
  type Call,
  callingUser,
  invalid,
  nameOf,
  principalOf,
  Refused,
  type Writing,
  write,
} from "../call.ts";
import type { Controller } from "../controller.ts";
import { digestOf, newSecret } from "../secrets.ts";
import type { KeyRow, Schema } from "../store/schema.ts";
import type {
  keyChangeSchema,
  keyRequestSchema,
  keySchema,
  newKeySchema,
  rotateRequestSchema,
} from "./key-documents.ts";

type KeyRequest = z.infer<typeof keyRequestSchema>;
type Rotation = z.infer<typeof rotateRequestSchema>;

const hour = 3_600_000;
/** Hours during which the old secret works together with the new one. */
const usualOverlap = 24;

const unknown = () => new Refused("not-found", "There is no such key.");

export const listApiKeys = (call: Call): Promise<Answer> => list(call, null);

export const listTokens = (call: Call): Promise<Answer> => list(call, userIdOf(call));

async function list({ controller: { database } }: Call, owner: string | null): Promise<Answer> {
  const rows = await database.read
    .selectFrom("keys")
    .selectAll()
    .where("owner", owner === null ? "is" : "=", owner)
    .orderBy("ordinal")
    .execute();
  return { status: 200, body: { api_keys: rows.map(keyOf) } };
}

export const createApiKey = (call: Call<KeyRequest>): Promise<Answer> => create(call, null);

/** @throws Refused for rights beyond the creator's, or too long a lifetime */
async function create(call: Call<KeyRequest>, owner: string | null): Promise<Answer> {
  const { pepper, settings } = call.controller;
  const { name = null, scopes: asked, expires_in_days = null } = call.body;
  const { scopes: rights } = principalOf(call);
  const id = randomUUID();
  const secret = newSecret(owner === null ? settings.prefixes.key : settings.prefixes.token);
  const scopes = expand(asked ?? usualScopes.filter((scope) => rights.has(scope)), rights);
  const expires_at = endOf(expires_in_days, settings.keyLife, call.now);
  const row: Omit<KeyRow, "ordinal"> = {
    id,
    owner,
    name,
    scopes: JSON.stringify(scopes),
    digest: digestOf(pepper, "key", id, secret),
    previous_digest: null,
    previous_until: null,
    created_by: nameOf(call),
    created_at: at(call.now),
    rotated_at: null,
    expires_at,
    disabled: 0,
    revoked_at: null,
    last_used_at: null,
  };
  await write(call, async ({ transaction, record }) => {
    await transaction.insertInto("keys").values(row).execute();
    const after = { name, scopes, expires_at, ...(owner !== null && { owner }) };
    record({ code: "key.created", target: { kind: "key", id }, after });
  });
  return { status: 201, body: newKeyOf(row, secret) };
}

export async function readOwnApiKey(call: Call): Promise<Answer> {
  const row = await readKey(call.controller.database.read, principalOf(call).id);
  if (!row) throw unknown();
  return { status: 200, body: keyOf(row) };
}

export async function changeApiKey(call: Call<z.infer<typeof keyChangeSchema>>): Promise<Answer> {
  const { name, disabled } = call.body;
  const row = await write(call, async ({ transaction, record }) => {
    const before = await requireApiKey(transaction, call.params.id ?? "");
    if (disabled === false && before.disabled !== 0) requireNoExcess(call, before);
    const after: KeyRow = {
      ...before,
      ...(name !== undefined && { name }),
      ...(disabled !== undefined && { disabled: Number(disabled) }),
    };
    if (after.name === before.name && after.disabled === before.disabled) return before;
    await transaction
      .updateTable("keys")
      .set({ name: after.name, disabled: after.disabled })
      .where("id", "=", before.id)
      .execute();
    const audited = (key: KeyRow) => ({ name: key.name, disabled: key.disabled !== 0 });
    record({
      code: "key.updated",
      target: { kind: "key", id: before.id },
      before: audited(before),
      after: audited(after),
    });
    return after;
  });
  return { status: 200, body: keyOf(row) };
}

/** Excludes users' tokens, which only their owners may change. */
async function requireApiKey(transaction: Writing["transaction"], id: string): Promise<KeyRow> {
  const row = await readKey(transaction, id);
  if (row?.owner !== null) throw unknown();
  return row;
}

/** `DELETE api_keys/{id}`: the key stays in lists, marked as revoked. */
export async function revokeApiKey(call: Call): Promise<Answer> {
  await write(call, async (writing) =>
    revoke(call, writing, await requireApiKey(writing.transaction, call.params.id ?? "")),
  );
  return { status: 204 };
}

async function revoke(
  call: Call,
  { transaction, record }: Writing,
  { id, name, revoked_at }: KeyRow,
): Promise<void> {
  if (revoked_at !== null) return;
  await transaction
    .updateTable("keys")
    .set({ revoked_at: at(call.now), previous_digest: null, previous_until: null })
    .where("id", "=", id)
    .execute();
  record({ code: "key.revoked", target: { kind: "key", id }, before: { name } });
}

export const rotateApiKey = (call: Call<Rotation>): Promise<Answer> =>
  rotate(call, call.params.id ?? "", (row) => {
    // The new secret gives its receiver all rights of the key, so tokens are excluded.
    if (row.owner !== null) throw unknown();
    requireNoExcess(call, row);
  });

/** @throws Refused if the key has rights that the caller lacks */
function requireNoExcess(call: Call<unknown>, row: KeyRow): void {
  const { scopes: rights } = principalOf(call);
  const excess = [...scopesOf(row)].filter((scope) => !rights.has(scope));
  if (excess.length > 0)
    throw new Refused("forbidden", `The key has more rights than you: ${excess.join(", ")}.`);
}

/** `POST api_keys/me/rotate`: requires the current secret, so that a replaced one cannot take over the key. */
export const rotateOwnApiKey = (call: Call<Rotation>): Promise<Answer> => {
  const principal = principalOf(call);
  return rotate(call, principal.id, ({ digest }) => {
    if (principal.kind !== "session" && principal.digest === digest) return;
    throw new Refused("forbidden", "This secret was replaced: rotate the key with its current secret.");
  });
};

/** Issues a new secret and restarts the key's lifetime with its original length. */
async function rotate(call: Call<Rotation>, id: string, require: (row: KeyRow) => void): Promise<Answer> {
  const { pepper, settings } = call.controller;
  const overlap = (call.body.overlap_hours ?? usualOverlap) * hour;
  const { row, secret } = await write(call, async ({ transaction, record }) => {
    const before = await readKey(transaction, id);
    if (!before) throw unknown();
    require(before);
    if (before.revoked_at !== null) throw new Refused("conflict", "The key is revoked: create another one.");
    const secret = newSecret(before.owner === null ? settings.prefixes.key : settings.prefixes.token);
    const row: KeyRow = {
      ...before,
      digest: digestOf(pepper, "key", id, secret),
      previous_digest: overlap > 0 ? before.digest : null,
      previous_until: overlap > 0 ? at(call.now + overlap) : null,
      rotated_at: at(call.now),
      expires_at: renewed(before, call),
    };
    const { digest, previous_digest, previous_until, rotated_at, expires_at } = row;
    await transaction
      .updateTable("keys")
      .set({ digest, previous_digest, previous_until, rotated_at, expires_at })
      .where("id", "=", id)
      .execute();
    record({
      code: "key.rotated",
      target: { kind: "key", id },
      before: { expires_at: before.expires_at },
      after: { expires_at, previous_until },
    });
    return { row, secret };
  });
  return { status: 200, body: newKeyOf(row, secret) };
}

function renewed(key: KeyRow, { now, controller: { settings } }: Call): string | null {
  if (key.expires_at === null) return null;
  const maxLife = settings.keyLife.maxDays * 24 * hour;
  const life = Date.parse(key.expires_at) - Date.parse(key.rotated_at ?? key.created_at);
  return at(now + Math.min(maxLife, life));
}

export const createToken = (call: Call<KeyRequest>): Promise<Answer> => create(call, userIdOf(call));

/** `DELETE user/tokens/{id}`: tokens of other users are reported as unknown. */
export async function revokeToken(call: Call): Promise<Answer> {
  const owner = userIdOf(call);
  await write(call, async (writing) => {
    const row = await readKey(writing.transaction, call.params.id ?? "");
    if (row?.owner !== owner) throw new Refused("not-found", "There is no such token.");
    await revoke(call, writing, row);
  });
  return { status: 204 };
}

function userIdOf(call: Call): string {
  const user = callingUser(call);
  if (!user) throw new Refused("forbidden", "An API key has no owner.");
  return user.id;
}

const day = 24 * 3_600_000;

const keyOf = (row: KeyRow): z.infer<typeof keySchema> => ({
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

const newKeyOf = (row: Omit<KeyRow, "ordinal">, key: string): z.infer<typeof newKeySchema> => ({
  id: row.id,
  key,
  name: row.name,
  scopes: [...scopesOf(row)],
  created_at: row.created_at,
  expires_at: row.expires_at,
  ...(row.previous_until !== null && { previous_until: row.previous_until }),
});

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

const readKey = (database: Kysely<Schema>, id: string): Promise<KeyRow | undefined> =>
  database.selectFrom("keys").selectAll().where("id", "=", id).executeTakeFirst();
