import type { OutputDocument } from "../../cli/output/outputs.ts";
import { table } from "../../cli/terminal/cells.ts";
import { answer, type Host, say } from "../../cli/terminal/host.ts";
import { failure } from "../../shared/errors.ts";
import { type Api, type ControllerPlace, withApi } from "./api.ts";
import { newPassword } from "./prompts.ts";

export type User = OutputDocument<"controller-user">["user"];

export async function addUser(
  email: string,
  options: ControllerPlace & { role: string; name?: string },
  host: Host,
): Promise<void> {
  const password = await newPassword(host);
  return withApi(options, host, async (api) => {
    const { role, name } = options;
    const body = { email, role, password, ...(name !== undefined && { name }) };
    const user = await api.ask<User>("POST", "/user/upsert", body);
    answer<"controller-user">(
      host,
      { user },
      () => `Created the user ${nameOf(user)} with the role ${user.role}.`,
    );
  });
}

export function listUsers(place: ControllerPlace, host: Host): Promise<void> {
  return withApi(place, host, async (api) => {
    const users = await readUsers(api);
    answer<"controller-users-list">(host, { users }, () =>
      table([
        ["email", "name", "role", "status", "id"],
        ...users.map((user) => [nameOf(user), user.name ?? "", user.role, user.status, user.id]),
      ]),
    );
  });
}

const readUsers = async (api: Api): Promise<User[]> =>
  Object.values(await api.ask<Record<string, User>>("GET", "/users"));

/** Display name: at least one of the two is set. */
export const nameOf = ({ email, username }: Pick<User, "email" | "username">): string =>
  email ?? username ?? "";

export async function requireUser(api: Api, word: string): Promise<User> {
  const name = word.toLowerCase();
  const user = (await readUsers(api)).find(({ id, email, username }) => [id, email, username].includes(name));
  if (user) return user;
  throw failure(
    "user-unmatched",
    `no user has the email address, name or id ${JSON.stringify(word)}`,
    "relcat controller users list shows them all.",
  );
}

export async function setPassword(word: string, place: ControllerPlace, host: Host): Promise<void> {
  return withApi(place, host, async (api) => {
    const user = await requireUser(api, word);
    const { id, email } = user;
    const password = await newPassword(host);
    await api.ask("POST", "/user/upsert", { id, password });
    answer<"controller-users-passwd">(
      host,
      { id, email },
      () => `${nameOf(user)} has a new password; open sessions were ended.`,
    );
  });
}

export function changeUser(
  word: string,
  change: { status: "Active" | "Disabled" } | { role: string },
  place: ControllerPlace,
  host: Host,
): Promise<void> {
  return withApi(place, host, async (api) => {
    const { id, role } = await requireUser(api, word);
    const user = await api.ask<User>("POST", "/user/upsert", { id, ...change });
    answer<"controller-user">(host, { user }, () => `${nameOf(user)}: ${roleWords(user)}, ${user.status}.`);
    if (user.role !== role && user.role !== "User")
      say(
        host,
        "The password has not changed. If anyone else may know it, set a new one with `users passwd`.",
      );
    if (user.status === "Disabled")
      say(host, "Their sessions and tokens no longer work; API keys that they created still do.");
  });
}

const flags = ["authz_devices", "authz_policies", "authz_control_panel", "authz_users"] as const;

/** The role, with the rights that become effective with it. */
function roleWords(user: User): string {
  if (user.role !== "LimitedAdministrator") return user.role;
  const given = flags.filter((flag) => user[flag]);
  return `${user.role} (${given.join(", ") || "no rights"})`;
}
