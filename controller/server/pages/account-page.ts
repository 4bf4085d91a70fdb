import type { ServerAnswer } from "../../../service/http/request.ts";
import { Refused } from "../call.ts";
import { fieldOf, type Refusal, refusalOf } from "./form.ts";
import { personOf } from "./user-fields.ts";
import { roleOf } from "./users-page.ts";
import { ApiError, page, redirectTo, type SignedIn } from "./visit.ts";

/** `GET /account`: the visitor's own name and password. */
export const accountPage = async (visit: SignedIn): Promise<ServerAnswer> => showAccount(visit);

function showAccount(visit: SignedIn, refusal?: Refusal): ServerAnswer {
  const { user } = visit.me;
  const model = {
    refusal: refusal ?? null,
    person: personOf(user),
    ...roleOf(user),
    name: user.name ?? "",
    username: user.username ?? "",
  };
  return page(visit, "account", "Your account", model, { status: refusal?.status ?? 200 });
}

export async function changeAccount(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, form } = visit;
  const what = form.get("what");
  if (what !== "names" && what !== "password")
    throw new Refused("invalid", "The form contains no valid action.");
  const body =
    what === "names"
      ? { name: fieldOf(form, "name") ?? null, username: fieldOf(form, "username") ?? null }
      : { password: form.get("password") ?? "", current_password: form.get("current") ?? "" };
  try {
    await ask("changeMe", { body });
  } catch (error) {
    return showAccount(visit, isWrongPassword(error) ? wrongPassword : refusalOf(error));
  }
  return redirectTo(visit, "/account", { code: what === "names" ? "own-names" : "own-password" });
}

/** The session was valid before the change, so this status is about the current password. */
const isWrongPassword = (error: unknown): boolean => error instanceof ApiError && error.status === 401;
const wrongPassword: Refusal = { status: 403, detail: "The current password is wrong.", errors: [] };
