import type { ServerAnswer } from "../../../service/http/request.ts";
import { sessionCookie } from "../auth/credentials.ts";
import { fieldOf } from "./form.ts";
import { ApiError, firstPageOf, page, redirectTo, type SignedIn, type Visit } from "./visit.ts";

/** `GET /`: the sign-in form, or the first page that a signed-in user may open. */
export async function home(visit: Visit): Promise<ServerAnswer> {
  if (!visit.hasSession) return signInPage(visit, localPath(visit.url.searchParams.get("to")));
  const { me } = await requireUser(visit);
  const first = firstPageOf(me);
  if (first !== undefined) return redirectTo(visit, first);
  const devices = Object.values(me.devices).map(({ name, id, serial, state }) => ({
    name: name ?? id,
    serial: serial ?? "",
    state,
  }));
  return page({ ...visit, me }, "own", "Your devices", { devices });
}

function signInPage(visit: Visit, to: string, failed?: { detail: string; name: string; status: number }) {
  const model = { to, detail: failed?.detail ?? "", name: failed?.name ?? "" };
  return page(visit, "sign-in", "Sign in", model, { status: failed?.status ?? 200 });
}

export async function signIn(visit: Visit): Promise<ServerAnswer> {
  const { ask, form } = visit;
  const to = localPath(form.get("to"));
  const name = fieldOf(form, "name") ?? "";
  try {
    const body = { email_or_username: name, password: form.get("password") ?? "" };
    const { headers } = await ask("login", { body });
    const cookie = headers["Set-Cookie"] ?? "";
    return redirectTo(visit, to, undefined, { "Set-Cookie": cookie });
  } catch (error) {
    if (!(error instanceof ApiError) || ![400, 401].includes(error.status)) throw error;
    // Not 401, which needs a challenge and makes browsers open their own password dialog.
    const detail = "The name or the password is wrong.";
    return signInPage(visit, to, { detail, name, status: 403 });
  }
}

const signedOut = `${sessionCookie}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`;

export async function signOut(visit: SignedIn): Promise<ServerAnswer> {
  await visit.ask("logout");
  return redirectTo(visit, "/", { code: "signed-out" }, { "Set-Cookie": signedOut });
}

/** @throws ApiError with 401 if no one is signed in */
export async function requireUser(visit: Visit): Promise<SignedIn> {
  const { body: me } = await visit.ask("readMe");
  return Object.assign(visit, { me });
}

/** Redirects to the sign-in form, and from there back to the current page. */
export function endedSession(visit: Visit): ServerAnswer {
  const { pathname, searchParams } = visit.url;
  const query = new URLSearchParams(searchParams);
  query.delete("said");
  const to = `${pathname}${query.size > 0 ? `?${query}` : ""}`;
  const door = pathname === "/" ? "/" : `/?to=${encodeURIComponent(to)}`;
  if (!visit.hasSession) return redirectTo(visit, door);
  // Clears the cookie, because an expired one would count as a failure on every page.
  return redirectTo(visit, door, { code: "signed-in-ended" }, { "Set-Cookie": signedOut });
}

/** Only paths on this site, to prevent open redirects. */
function localPath(given: string | null): string {
  return /^\/(devices|serials|keys|users|audit|account)(?:[/?][\w\-./?=&%+]*)?$/.test(given ?? "")
    ? (given ?? "/")
    : "/";
}
