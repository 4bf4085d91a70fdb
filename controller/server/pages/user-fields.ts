import { randomBytes } from "node:crypto";
import { mayDecideOn, type Role, roles } from "../access.ts";
import { fieldOf } from "./form.ts";

export const roleNames: Record<Role, string> = {
  Owner: "Owner",
  FullAdministrator: "Full Administrator",
  LimitedAdministrator: "Limited Administrator",
  User: "User",
};

const roleTexts: Record<Role, string> = {
  Owner: "everything",
  FullAdministrator: "everything, except changes to Owners",
  LimitedAdministrator: "the rights chosen below",
  User: "their own devices only",
};

/** Rights of a Limited Administrator. */
const flagTexts = {
  authz_devices: "Devices: see, accept and reject them",
  authz_control_panel: "Control panel: read the audit log, see API keys",
  authz_users: "Users: add, change and disable them",
} as const;
type Flag = keyof typeof flagTexts;
const flags = Object.keys(flagTexts) as Flag[];

export const flagNames: Record<Flag | "authz_policies", string> = {
  authz_devices: "devices",
  authz_policies: "policies",
  authz_control_panel: "control panel",
  authz_users: "users",
};

/** The role and its rights as form fields; only roles that the actor may give. */
export const roleFields = (actor: Role, role: string | null, isChecked: (flag: Flag) => boolean) => ({
  roles: roles
    .filter((each) => mayDecideOn(actor, each))
    .map((each) => ({
      role: each,
      name: roleNames[each],
      text: roleTexts[each],
      checked: each === (role ?? "User"),
    })),
  flags: flags.map((flag) => ({ flag, text: flagTexts[flag], checked: isChecked(flag) })),
  hasLimited: mayDecideOn(actor, "LimitedAdministrator"),
});

/** Members of a request for `user/upsert`. Rights are sent only with the role that they belong to. */
export function roleIn(form: URLSearchParams): object {
  const role = fieldOf(form, "role");
  const given = form.getAll("flag");
  return {
    role,
    ...(role === "LimitedAdministrator" &&
      Object.fromEntries(flags.map((flag) => [flag, given.includes(flag)]))),
  };
}

export const namesIn = (form: URLSearchParams) => ({
  name: fieldOf(form, "name") ?? null,
  email: fieldOf(form, "email") ?? null,
  username: fieldOf(form, "username") ?? null,
});

/** 144 random bits, which no one can guess and a person can still copy by hand. */
export const newPassword = (): string => randomBytes(18).toString("base64url");
