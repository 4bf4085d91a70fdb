import type { ServerAnswer } from "../../../service/http/request.ts";
import { expiryWarningMilliseconds, keyScopes, rightsOf, type Scope, usualScopes } from "../access.ts";
import { Refused } from "../call.ts";
import type { AnswerOf } from "../contracts.ts";
import { fieldOf, numberIn } from "./form.ts";
import { may, page, redirectTo, type SignedIn } from "./visit.ts";
import { momentOf } from "./words.ts";

type Key = AnswerOf<"listApiKeys">["api_keys"][number];

const scopeTexts: Record<Scope, string> = {
  "devices:read": "see devices",
  "devices:state": "accept and reject devices",
  "devices:write": "rename, assign and delete devices",
  "api_keys:read": "see API keys",
  "api_keys:write": "revoke API keys",
  "users:read": "see users",
  "users:write": "change users",
  "audit:read": "read the audit log",
  "packages:write": "publish packages",
};

export async function keysPage(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, me, controller, now } = visit;
  const { body } = await ask("listApiKeys");
  const keys = body.api_keys.map((key) => keyView(key, now));
  const rights = rightsOf(me.user);
  const { defaultDays: days, maxDays } = controller.settings.keyLife;
  return page(visit, "keys", "API keys", {
    working: keys.filter(({ isOver }) => !isOver),
    over: keys.filter(({ isOver }) => isOver),
    canMake: may(me, "createApiKey"),
    days,
    most: maxDays,
    scopes: keyScopes
      .filter((scope) => rights.has(scope))
      .map((scope) => ({ scope, text: scopeTexts[scope], checked: usualScopes.includes(scope) })),
  });
}

function keyView(key: Key, now: number) {
  const [status, isOver] = statusOf(key, now);
  return {
    id: key.id,
    name: key.name ?? "without a name",
    scopes: key.scopes,
    status,
    isOver,
    created: momentOf(key.created_at, now),
    used: momentOf(key.last_used_at, now),
    expires: momentOf(key.expires_at, now),
    isSoon:
      !isOver && key.expires_at !== null && Date.parse(key.expires_at) - now < expiryWarningMilliseconds,
    overlap:
      key.previous_until !== null && Date.parse(key.previous_until) > now
        ? momentOf(key.previous_until, now)
        : null,
  };
}

function statusOf({ revoked_at, disabled, expires_at }: Key, now: number): [status: string, isOver: boolean] {
  if (revoked_at !== null) return ["revoked", true];
  if (expires_at !== null && Date.parse(expires_at) <= now) return ["expired", true];
  return disabled ? ["disabled", false] : ["active", false];
}

/** `POST /keys`: shows the secret in its answer, the only place where it is shown. */
export async function makeKey(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, form } = visit;
  const days = numberIn(form, "days");
  const body = {
    name: fieldOf(form, "name") ?? null,
    scopes: form.getAll("scope"),
    ...(days !== undefined && { expires_in_days: days }),
  };
  const made = await ask("createApiKey", { body });
  return newKeyPage(visit, "Your new API key", made.body, 201);
}

type NewKey = AnswerOf<"createApiKey">;

function newKeyPage(visit: SignedIn, title: string, made: NewKey, status: number): ServerAnswer {
  const { id, key, name, scopes, expires_at, previous_until } = made;
  const model = {
    title,
    id,
    key,
    name: name ?? "",
    scopes,
    expires: momentOf(expires_at, visit.now),
    overlap: momentOf(previous_until ?? null, visit.now),
    origin: visit.url.origin,
  };
  return page(visit, "new-key", title, model, { status });
}

export async function keyPage(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, me, params, now } = visit;
  const { body } = await ask("listApiKeys");
  const key = body.api_keys.find(({ id }) => id === params.id);
  if (!key) throw new Refused("not-found", "There is no such key.");
  const view = keyView(key, now);
  return page(visit, "key", view.name, {
    ...view,
    canRotate: may(me, "rotateApiKey") && key.revoked_at === null,
    canRevoke: may(me, "revokeApiKey") && key.revoked_at === null,
  });
}

export async function changeKey(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, form, params } = visit;
  const what = form.get("what");
  if (what === "revoke") {
    await ask("revokeApiKey", { params });
    return redirectTo(visit, `/keys/${params.id}`, { code: "revoked" });
  }
  if (what !== "rotate") throw new Refused("invalid", "The form contains no valid action.");
  const hours = numberIn(form, "hours");
  const body = hours === undefined ? {} : { overlap_hours: hours };
  const { body: made } = await ask("rotateApiKey", { params, body });
  return newKeyPage(visit, "The key's new secret", made, 200);
}
