import { beforeAll, describe, expect, test } from "vitest";
import { basic, password, type TestController, type TestKey, testController } from "./support.ts";

/** A type as compiled clients declare it: what is not declared, missing or of another type is an error there. */
type Kind =
  | "string"
  | "number"
  | "boolean"
  | "string or null"
  | readonly [Kind]
  | { readonly map: Kind }
  | { readonly [member: string]: Kind };

function decode(kind: Kind, value: unknown, place = "$"): void {
  if (typeof kind === "string") {
    const [type, orNull] = kind.split(" or ");
    if (!(orNull && value === null) && (typeof value !== type || value === null))
      throw new Error(`${place} is ${JSON.stringify(value)}, not ${kind}`);
    return;
  }
  if (typeof value !== "object" || value === null) throw new Error(`${place} is no object`);
  if (Array.isArray(kind) !== Array.isArray(value)) throw new Error(`${place} is a list, or is none`);
  if (Array.isArray(kind)) {
    for (const [index, item] of Object.entries(value)) decode(kind[0], item, `${place}[${index}]`);
    return;
  }
  if ("map" in kind) {
    for (const [name, item] of Object.entries(value)) decode(kind.map as Kind, item, `${place}.${name}`);
    return;
  }
  const members = kind as Record<string, Kind>;
  for (const name of Object.keys(value)) if (!(name in members)) throw new Error(`${place} has ${name} too`);
  for (const [name, member] of Object.entries(members))
    decode(member, (value as Record<string, unknown>)[name], `${place}.${name}`);
}

const device = {
  id: "string",
  name: "string or null",
  state: "string",
  serial: "string or null",
  public_key: "string",
  ipv6: "string or null",
  device_type: "string or null",
  device_os: "string or null",
  controller_id: "string or null",
  owned_by_org: "string or null",
  assigned_to_user: "string or null",
  last_seen: "string or null",
  last_seen_version: "string or null",
  version: "number",
  created_at: "string",
  state_changed_at: "string",
  state_changed_by: "string or null",
  state_reason: "string or null",
} as const;
const user = {
  id: "string",
  name: "string or null",
  email: "string",
  username: "string or null",
  role: "string",
  status: "string",
  authz_devices: "boolean",
  authz_policies: "boolean",
  authz_control_panel: "boolean",
  authz_users: "boolean",
} as const;
const key = {
  id: "string",
  name: "string or null",
  scopes: ["string"],
  created_by: "string",
  created_at: "string",
  expires_at: "string or null",
  disabled: "boolean",
  revoked_at: "string or null",
  last_used_at: "string or null",
  previous_until: "string or null",
} as const;
const change = {
  id: "string",
  state: "string",
  previous_state: "string",
  changed: "boolean",
  version: "number",
} as const;
const created = {
  id: "string",
  key: "string",
  name: "string or null",
  scopes: ["string"],
  created_at: "string",
  expires_at: "string or null",
} as const;

let controller: TestController;
let program: TestKey;
let email: string;
let ids: string[];
beforeAll(async () => {
  controller = await testController();
  ({ email } = await controller.makeUser("Owner"));
  program = await controller.makeKey();
  ids = [
    (await controller.enroll({ name: "laptop-7", serial: "SN-1001", device_os: "linux", version: "1.2" })).id,
    (await controller.enroll()).id,
  ];
});

const ask = async (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  (await controller.call(method, path, { headers, body })).json;
const signIn = async () => {
  const { json, headers } = await controller.call("POST", "/user/login", { body: { email, password } });
  const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
  return { json, headers: { cookie, origin: controller.url } };
};

describe("a strict decoder reads", () => {
  const accept = (state: string) => ({ devices: ids.map((id) => ({ id, state })) });
  const answers: [string, Kind, () => Promise<unknown>][] = [
    ["health", { status: "string" }, () => ask("GET", "/ok", {})],
    ["the list", { devices: { map: device } }, () => ask("GET", "/device", program.headers)],
    ["a page of it", { devices: { map: device } }, () => ask("GET", "/device?limit=1", program.headers)],
    ["one device", device, () => ask("GET", `/device/${ids[0]}`, program.headers)],
    [
      "accepted devices",
      { devices: [change], changed: "number" },
      () => ask("POST", "/device/state", program.headers, accept("accepted")),
    ],
    [
      "rejected devices",
      { devices: [change], changed: "number" },
      () => ask("POST", "/device/state", program.headers, accept("rejected")),
    ],
    ["the own key", key, () => ask("GET", "/api_keys/me", program.headers)],
    ["a login", { user }, async () => (await signIn()).json],
    ["a new key", created, async () => ask("POST", "/api_keys", (await signIn()).headers)],
    ["the keys", { api_keys: [key] }, async () => ask("GET", "/api_keys", (await signIn()).headers)],
    ["the users", { users: { map: user } }, async () => ask("GET", "/users", (await signIn()).headers)],
    [
      "oneself",
      { user, devices: { map: device } },
      async () => ask("GET", "/user/me", (await signIn()).headers),
    ],
  ];

  test.each(answers)("%s", async (_name, kind, get) => {
    decode(kind, await get());
  });

  test("and fails on one member more, less, or of another type", async () => {
    const one = await ask("GET", `/device/${ids[0]}`, program.headers);
    const { serial: _, ...less } = one;
    for (const [wrong, why] of [
      [{ ...one, more: 1 }, "$ has more too"],
      [less, "$.serial is undefined, not string or null"],
      [{ ...one, version: "1" }, '$.version is "1", not number'],
      [[one], "$ is a list, or is none"],
    ])
      expect(() => decode(device, wrong)).toThrow(why);
  });
});

test("what clients have always sent is still understood, in whatever order and however spaced", async () => {
  const post = (body: string) => controller.call("POST", "/device/state", { headers: program.headers, body });
  const id = ids[1];
  for (const body of [
    `{"devices":[{"id":"${id}","state":"accepted"}]}`,
    `{\n  "devices" : [ { "state" : "pending", "id" : "${id}" } ]\n}\n`,
    `{"devices":[{"id":"${id}","state":"rejected","reason":"lost"}]}`,
  ]) {
    const { status, headers, json } = await post(body);
    expect([status, headers.get("content-type"), json.changed]).toEqual([200, "application/json", 1]);
  }
  const { json } = await controller.call("POST", "/user/login", {
    body: { email_or_username: email, password },
  });
  expect(json.user.email).toBe(email);
  const wrong = basic(program.id, program.key.replace("rck_", "other_"));
  expect((await controller.call("GET", "/device", { headers: wrong })).status).toBe(401);
});
