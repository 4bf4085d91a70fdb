import { type Role, type Scope, keyScopes as scopes } from "../../controller/server/access.ts";
import { type Person, people } from "./access-table.ts";
import { basic, type TestController, type TestUser } from "./support.ts";

/** A caller, with the headers they send. */
export type Asker = { name: string; headers: Record<string, string> } & (
  | { kind: "nobody" }
  | { kind: "key"; scopes: readonly Scope[] }
  | { kind: "token"; of: Role }
  | { kind: "session"; of: Person }
  /** Credentials that are no longer valid. */
  | { kind: "former" }
);

const hour = 3_600_000;

/**
 * All kinds of callers: keys of every scope, tokens of every role, sessions of every right, and former ones.
 */
export async function askers(controller: TestController): Promise<Asker[]> {
  const { call, makeKey, makeUser } = controller;
  const expired = await makeKey(undefined, 1);
  controller.setTime(controller.now() + 25 * hour);
  const owner = await makeUser("Owner");
  const [disabled, revoked] = [await makeKey(), await makeKey()];
  await call("POST", `/api_keys/${disabled.id}`, { headers: owner.headers, body: { disabled: true } });
  await call("DELETE", `/api_keys/${revoked.id}`, { headers: owner.headers });
  return [
    { kind: "nobody", name: "nobody", headers: {} },
    ...(await Promise.all(
      scopes.map(async (scope): Promise<Asker> => {
        const { headers } = await makeKey([scope]);
        return { kind: "key", name: `a key for ${scope}`, scopes: [scope], headers };
      }),
    )),
    { kind: "key", name: "a key for everything", scopes, headers: (await makeKey(scopes)).headers },
    { kind: "former", name: "an expired key", headers: expired.headers },
    { kind: "former", name: "a disabled key", headers: disabled.headers },
    { kind: "former", name: "a revoked key", headers: revoked.headers },
    ...(await tokens(controller)),
    ...(await Promise.all(
      people.map(
        async (of): Promise<Asker> => ({
          kind: "session",
          name: `${of}'s session`,
          of,
          headers: (await userFor(controller, of)).headers,
        }),
      ),
    )),
    ...(await formerUser(controller, owner)),
  ];
}

async function tokens(controller: TestController): Promise<Asker[]> {
  const all = { authz_devices: 1, authz_control_panel: 1, authz_users: 1 } as const;
  const users: [Role, TestUser][] = [
    ["Owner", await controller.makeUser("Owner")],
    ["FullAdministrator", await controller.makeUser("FullAdministrator")],
    ["LimitedAdministrator", await controller.makeUser("LimitedAdministrator", all)],
    ["User", await controller.makeUser("User")],
  ];
  return Promise.all(
    users.map(async ([of, user]) => ({
      kind: "token",
      name: `${of}'s token`,
      of,
      headers: await tokenOf(controller, user),
    })),
  );
}

/** A token with all rights of its user. */
export async function tokenOf({ call }: TestController, { headers }: TestUser) {
  const able: Scope[] = [];
  for (const scope of scopes) {
    const { status } = await call("POST", "/user/tokens", { headers, body: { scopes: [scope] } });
    if (status === 201) able.push(scope);
  }
  const { json } = await call("POST", "/user/tokens", { headers, body: { scopes: able } });
  return basic(json.id, json.key);
}

function userFor({ makeUser }: TestController, person: Person): Promise<TestUser> {
  if (person === "Owner" || person === "FullAdministrator" || person === "User") return makeUser(person);
  return makeUser("LimitedAdministrator", { [person]: 1 });
}

async function formerUser(controller: TestController, owner: TestUser): Promise<Asker[]> {
  const user = await controller.makeUser("Owner");
  const token = await tokenOf(controller, user);
  const body = { id: user.id, status: "Disabled" };
  await controller.call("POST", "/user/upsert", { headers: owner.headers, body });
  return [
    { kind: "former", name: "a disabled user's session", headers: user.headers },
    { kind: "former", name: "a disabled user's token", headers: token },
  ];
}

let addresses = 0;

/** From its own address, through a trusted proxy, so that failures of others do not throttle it. */
export function fromElsewhere(): Record<string, string> {
  const number = addresses++;
  return {
    "x-forwarded-for": `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`,
    "x-forwarded-proto": "https",
  };
}

/** Makes the test's own connections count as a proxy. */
export const proxied = { trustedProxies: ["127.0.0.1"] };
