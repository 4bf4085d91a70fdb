import type { ServerAnswer } from "../../http/request.ts";
import { mayDecideOn, type User } from "../access.ts";
import { Refused } from "../problems.ts";
import { may } from "./ask.ts";
import { page, redirectTo, type SignedIn } from "./visit.ts";

const rights = [
  ["authz_devices", "devices"],
  ["authz_policies", "policies"],
  ["authz_control_panel", "control panel"],
  ["authz_users", "users"],
] as const;

const roleTexts: Record<User["role"], string> = {
  Owner: "Owner",
  FullAdministrator: "Full Administrator",
  LimitedAdministrator: "Limited Administrator",
  User: "User",
};

/** `GET /users` */
export async function usersPage(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, me } = visit;
  const { body } = await ask<Record<string, User>>("listUsers");
  const canChange = may(me, "upsertUser");
  return page(visit, "users", "Users", {
    users: Object.values(body).map((user) => ({
      id: user.id,
      email: user.email ?? user.username,
      name: [user.name, user.email && user.username].filter(Boolean).join(" · "),
      role: roleTexts[user.role],
      rights:
        user.role === "LimitedAdministrator"
          ? rights
              .filter(([flag]) => user[flag])
              .map(([, text]) => text)
              .join(", ") || "no rights"
          : "",
      isActive: user.status === "Active",
      isMe: user.id === me.user.id,
      canChange: canChange && user.id !== me.user.id && mayDecideOn(me.user.role, user.role),
    })),
  });
}

/** `POST /users`: creates, enables or disables a user. */
export async function changeUser(visit: SignedIn): Promise<ServerAnswer> {
  const { ask, form } = visit;
  const status = form.get("status");
  if (status !== "Active" && status !== "Disabled")
    throw new Refused("invalid", "The form contains no valid action.");
  await ask("upsertUser", { body: { id: form.get("id") ?? "", status } });
  return redirectTo(visit, "/users", { code: status === "Active" ? "enabled" : "disabled" });
}
