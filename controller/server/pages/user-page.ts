import type { ServerAnswer } from "../../../service/http/request.ts";
import { mayDecideOn, type User } from "../access.ts";
import { Refused } from "../problems.ts";
import { may } from "./ask.ts";
import { historyOf } from "./audit-rows.ts";
import { type Refusal, refusalOf } from "./refusal.ts";
import { namesIn, newPassword, personOf, roleFields, roleIn } from "./user-fields.ts";
import { passwordPage, roleOf } from "./users-page.ts";
import { page, redirectTo, type SignedIn } from "./visit.ts";

/** `GET /users/{id}` */
export const userPage = (visit: SignedIn): Promise<ServerAnswer> => showUser(visit);

async function showUser(visit: SignedIn, refusal?: Refusal): Promise<ServerAnswer> {
  const { me, url } = visit;
  const user = await readUser(visit);
  const isMe = user.id === me.user.id;
  const mayChange = may(me, "upsertUser") && mayDecideOn(me.user.role, user.role);
  const isActive = user.status === "Active";
  const model = {
    refusal: refusal ?? null,
    id: user.id,
    person: personOf(user),
    names: { name: user.name ?? "", email: user.email ?? "", username: user.username ?? "" },
    ...roleOf(user),
    isActive,
    isMe,
    canRename: mayChange,
    canChange: mayChange && !isMe,
    canDelete: mayChange && !isMe && may(me, "deleteUser") && !isActive,
    asksToDelete: url.searchParams.get("ask") === "delete",
    ...roleFields(me.user.role, user.role, (flag) => user[flag]),
    ...(await historyOf(visit, user.id)),
  };
  return page(visit, "user", personOf(user), model, { status: refusal?.status ?? 200 });
}

async function readUser({ ask, params }: SignedIn): Promise<User> {
  const { body } = await ask<User>("readUser", { params });
  return body;
}

/** `POST /users/{id}` */
export async function changeUser(visit: SignedIn): Promise<ServerAnswer> {
  const change = changes[visit.form.get("what") ?? ""];
  if (!change) throw new Refused("invalid", "The form contains no valid action.");
  try {
    return await change(visit);
  } catch (error) {
    return showUser(visit, refusalOf(error));
  }
}

const changes: Readonly<Record<string, (visit: SignedIn) => Promise<ServerAnswer>>> = {
  names: async (visit) => {
    await upsert(visit, namesIn(visit.form));
    return redirectTo(visit, pathOf(visit), { code: "changed" });
  },
  role: async (visit) => {
    await upsert(visit, roleIn(visit.form));
    return redirectTo(visit, pathOf(visit), { code: "role" });
  },
  disable: async (visit) => {
    await upsert(visit, { status: "Disabled" });
    return redirectTo(visit, pathOf(visit), { code: "disabled" });
  },
  enable: async (visit) => {
    await upsert(visit, { status: "Active" });
    return redirectTo(visit, pathOf(visit), { code: "enabled" });
  },
  password: async (visit) => {
    const entered = visit.form.get("password") || undefined;
    const password = entered ?? newPassword();
    const user = await upsert(visit, { password });
    return entered === undefined
      ? passwordPage(visit, "The user has a new password", user, password, 200)
      : redirectTo(visit, pathOf(visit), { code: "password" });
  },
  delete: async (visit) => {
    await visit.ask("deleteUser", { params: visit.params });
    return redirectTo(visit, "/users", { code: "removed" });
  },
};

const pathOf = ({ params }: SignedIn): string => `/users/${params.id}`;

/** Refuses an unknown id, for which `user/upsert` would create a user. */
async function upsert(visit: SignedIn, values: object): Promise<User> {
  const { id } = await readUser(visit);
  const { body } = await visit.ask<User>("upsertUser", { body: { id, ...values } });
  return body;
}
