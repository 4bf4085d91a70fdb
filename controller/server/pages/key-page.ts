import type { ServerAnswer } from "../../../service/http/request.ts";
import { Refused } from "../problems.ts";
import { may } from "./ask.ts";
import { numberIn } from "./form.ts";
import { type Key, keyView, type NewKey, newKeyPage } from "./keys-page.ts";
import { page, redirectTo, type SignedIn } from "./visit.ts";

/** `GET /keys/{id}` */
export async function keyPage(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, me, params, now } = visit;
  const { body } = await ask<{ api_keys: Key[] }>("listApiKeys");
  const key = body.api_keys.find(({ id }) => id === params.id);
  if (!key) throw new Refused("not-found", "There is no such key.");
  const view = keyView(key, now);
  return page(visit, "key", view.name, {
    ...view,
    canRotate: may(me, "rotateApiKey") && key.revoked_at === null,
    canRevoke: may(me, "revokeApiKey") && key.revoked_at === null,
  });
}

/** `POST /keys/{id}`: rotates or revokes a key. */
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
  const { body: made } = await ask<NewKey>("rotateApiKey", { params, body });
  return newKeyPage(visit, "The key's new secret", made, 200);
}
