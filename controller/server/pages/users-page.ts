import { randomBytes } from "node:crypto";
import type { ServerAnswer } from "../../../service/http/request.ts";
import { mayDecideOn, nameOfUser, type Role, roles, type User } from "../access.ts";
import { Refused } from "../call.ts";
import { historyOf } from "./audit-rows.ts";
import { fieldOf, type Refusal, refusalOf } from "./form.ts";
import { ApiError, may, page, redirectTo, type SignedIn } from "./visit.ts";

/** @param refusal of the form, whose values are shown again */
export async function usersPage(visit: SignedIn, refusal?: Refusal): Promise<ServerAnswer> {
  const { ask, me, form } = visit;
  const { body } = await ask("listUsers");
  const canChange = may(me, "upsertUser");
  const { name, email, username } = namesIn(form);
  const model = {
    refusal: refusal ?? null,
    users: Object.values(body).map((user) => rowOf(user, visit, canChange)),
    canAdd: canChange,
    given: { name: name ?? "", email: email ?? "", username: username ?? "" },
    ...roleFields(me.user.role, form.get("role"), (flag) => form.getAll("flag").includes(flag)),
  };
  return page(visit, "users", "Users", model, { status: refusal?.status ?? 200 });
}

function rowOf(user: User, { me }: SignedIn, canChange: boolean) {
  return {
    id: user.id,
    person: nameOfUser(user),
    name: [user.name, user.email && user.username].filter(Boolean).join(" · "),
    ...roleOf(user),
    isActive: user.status === "Active",
    isMe: user.id === me.user.id,
    canChange: canChange && user.id !== me.user.id && mayDecideOn(me.user.role, user.role),
  };
}

function roleOf(user: User): { role: string; rights: string } {
  const rights = Object.entries(flagNames).filter(([flag]) => user[flag as keyof typeof flagNames]);
  const isLimited = user.role === "LimitedAdministrator";
  return {
    role: roleTexts[user.role].name,
    rights: isLimited ? rights.map(([, text]) => text).join(", ") || "no rights" : "",
  };
}

export async function changeUsers(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, form } = visit;
  try {
    if (form.get("what") === "add") return await addUser(visit);
    const status = form.get("status");
    if (status !== "Active" && status !== "Disabled")
      throw new Refused("invalid", "The form contains no valid action.");
    await ask("upsertUser", { body: { id: form.get("id") ?? "", status } });
    return redirectTo(visit, "/users", { code: status === "Active" ? "enabled" : "disabled" });
  } catch (error) {
    return usersPage(visit, refusalOf(error));
  }
}

const addUser = (visit: SignedIn): Promise<ServerAnswer> =>
  savePassword(visit, { title: "The user was added", status: 201, code: "added" }, async (password) => {
    const { body } = await visit.ask("upsertUser", {
      body: { ...namesIn(visit.form), ...roleIn(visit.form), password },
    });
    return body;
  });

/** Saves the password of the form, or a generated one, which only this answer can show. */
async function savePassword(
  visit: SignedIn,
  { title, status, code }: { title: string; status: number; code: "added" | "password" },
  save: (password: string) => Promise<User>,
): Promise<ServerAnswer> {
  const entered = visit.form.get("password") || undefined;
  const password = entered ?? newPassword();
  const user = await save(password);
  if (entered !== undefined) return redirectTo(visit, `/users/${user.id}`, { code });
  const person = nameOfUser(user);
  const model = { title, id: user.id, person, ...roleOf(user), password, origin: visit.url.origin };
  return page(visit, "new-password", title, model, { status });
}

export async function userPage(visit: SignedIn, refusal?: Refusal): Promise<ServerAnswer> {
  const { me, url } = visit;
  const user = await readUser(visit);
  const isMe = user.id === me.user.id;
  const mayChange = may(me, "upsertUser") && mayDecideOn(me.user.role, user.role);
  const isActive = user.status === "Active";
  const model = {
    refusal: refusal ?? null,
    id: user.id,
    person: nameOfUser(user),
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
  return page(visit, "user", nameOfUser(user), model, { status: refusal?.status ?? 200 });
}

async function readUser({ ask, params }: SignedIn): Promise<User> {
  const { body } = await ask("readUser", { params });
  return body;
}

export async function changeUser(visit: SignedIn): Promise<ServerAnswer> {
  const what = visit.form.get("what") ?? "";
  const change = Object.hasOwn(changes, what) ? changes[what] : undefined;
  if (!change) throw new Refused("invalid", "The form contains no valid action.");
  try {
    return await change(visit);
  } catch (error) {
    return userPage(visit, refusalOf(error));
  }
}

const changeOf =
  (valuesOf: (form: URLSearchParams) => object, code: "changed" | "role" | "disabled" | "enabled") =>
  async (visit: SignedIn): Promise<ServerAnswer> => {
    await upsert(visit, valuesOf(visit.form));
    return redirectTo(visit, pathOf(visit), { code });
  };

const changes: Readonly<Record<string, (visit: SignedIn) => Promise<ServerAnswer>>> = {
  names: changeOf(namesIn, "changed"),
  role: changeOf(roleIn, "role"),
  disable: changeOf(() => ({ status: "Disabled" }), "disabled"),
  enable: changeOf(() => ({ status: "Active" }), "enabled"),
  password: (visit) =>
    savePassword(visit, { title: "The user has a new password", status: 200, code: "password" }, (password) =>
      upsert(visit, { password }),
    ),
  delete: async (visit) => {
    await visit.ask("deleteUser", { params: visit.params });
    return redirectTo(visit, "/users", { code: "removed" });
  },
};

const pathOf = ({ params }: SignedIn): string => `/users/${params.id}`;

/** Refuses an unknown id, for which `user/upsert` would create a user. */
async function upsert(visit: SignedIn, values: object): Promise<User> {
  const { id } = await readUser(visit);
  const { body } = await visit.ask("upsertUser", { body: { id, ...values } });
  return body;
}

export async function accountPage(visit: SignedIn, refusal?: Refusal): Promise<ServerAnswer> {
  const { user } = visit.me;
  const model = {
    refusal: refusal ?? null,
    person: nameOfUser(user),
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
    return accountPage(visit, isWrongPassword(error) ? wrongPassword : refusalOf(error));
  }
  return redirectTo(visit, "/account", { code: what === "names" ? "own-names" : "own-password" });
}

/** The session was valid before the change, so this status is about the current password. */
const isWrongPassword = (error: unknown): boolean => error instanceof ApiError && error.status === 401;
const wrongPassword: Refusal = { status: 403, detail: "The current password is wrong.", errors: [] };

const roleTexts: Record<Role, { name: string; text: string }> = {
  Owner: { name: "Owner", text: "everything" },
  FullAdministrator: { name: "Full Administrator", text: "everything, except changes to Owners" },
  LimitedAdministrator: { name: "Limited Administrator", text: "the rights chosen below" },
  User: { name: "User", text: "their own devices only" },
};
/** Rights of a Limited Administrator. */
const flagTexts = {
  authz_devices: "Devices: see, accept and reject them",
  authz_control_panel: "Control panel: read the audit log, see API keys",
  authz_users: "Users: add, change and disable them",
} as const;
type Flag = keyof typeof flagTexts;
const flags = Object.keys(flagTexts) as Flag[];

const flagNames: Record<Flag | "authz_policies", string> = {
  authz_devices: "devices",
  authz_policies: "policies",
  authz_control_panel: "control panel",
  authz_users: "users",
};

const roleFields = (actor: Role, role: string | null, isChecked: (flag: Flag) => boolean) => ({
  roles: roles
    .filter((each) => mayDecideOn(actor, each))
    .map((each) => ({ role: each, ...roleTexts[each], checked: each === (role ?? "User") })),
  flags: flags.map((flag) => ({ flag, text: flagTexts[flag], checked: isChecked(flag) })),
  hasLimited: mayDecideOn(actor, "LimitedAdministrator"),
});

/** Members of a request for `user/upsert`. Rights are sent only with the role that they belong to. */
function roleIn(form: URLSearchParams): object {
  const role = fieldOf(form, "role");
  const given = form.getAll("flag");
  return {
    role,
    ...(role === "LimitedAdministrator" &&
      Object.fromEntries(flags.map((flag) => [flag, given.includes(flag)]))),
  };
}

function namesIn(form: URLSearchParams) {
  const [name, email, username] = ["name", "email", "username"].map((each) => fieldOf(form, each) ?? null);
  return { name, email, username };
}

/** 144 random bits, which no one can guess and a person can still copy by hand. */
const newPassword = (): string => randomBytes(18).toString("base64url");
