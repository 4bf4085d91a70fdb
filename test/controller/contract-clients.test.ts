import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { keyScopes } from "../../controller/server/access.ts";
import { contracts } from "../../controller/server/contracts.ts";
import {
  basic,
  password,
  type TestController,
  type TestKey,
  type TestUser,
  testController,
} from "./support.ts";

/** A type as compiled clients declare it: undeclared or missing members and other types are errors. */
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
  email: "string or null",
  username: "string or null",
  role: "string",
  status: "string",
  authz_devices: "boolean",
  authz_policies: "boolean",
  authz_control_panel: "boolean",
  authz_control_plane: "boolean",
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

const decision = {
  serial: "string",
  enforce_state: "string",
  device_id: "string or null",
  source: "string",
  created_at: "string",
} as const;
const problem = {
  type: "string",
  title: "string",
  status: "number",
  detail: "string",
  instance: "string",
} as const;

let controller: TestController;
let program: TestKey;
let owner: TestUser;
let member: TestUser;
let ids: string[];
beforeAll(async () => {
  controller = await testController();
  owner = await controller.makeUser("Owner");
  member = await controller.makeUser("User");
  program = await controller.makeKey(keyScopes);
  ids = [
    (await controller.enroll({ name: "laptop-7", serial: "SN-1001", device_os: "linux", version: "1.2" })).id,
    (await controller.enroll()).id,
  ];
});

type Mode = "key" | "session";
const credentials = (mode: Mode) => (mode === "key" ? program.headers : owner.headers);
const modes: readonly Mode[] = ["key", "session"];

interface Operation {
  name: string;
  ask: (mode: Mode) => [method: string, path: string, body?: unknown];
  status: number;
  /** undefined: an answer without a body. */
  kind: Kind | undefined;
  /** Set if only one of the two modes is allowed. */
  only?: Mode;
}

/**
 * Operations of clients that existed before this server. Changing operations restore the state, so that both
 * modes can be tested.
 */
const operations: Operation[] = [
  { name: "health", ask: () => ["GET", "/ok"], status: 200, kind: { status: "string" } },
  { name: "the devices", ask: () => ["GET", "/device"], status: 200, kind: { devices: { map: device } } },
  {
    name: "a page of them",
    ask: () => ["GET", "/device?limit=1"],
    status: 200,
    kind: { devices: { map: device } },
  },
  { name: "a device", ask: () => ["GET", `/device/${ids[0]}`], status: 200, kind: device },
  {
    name: "a renamed device",
    ask: () => ["POST", `/device/${ids[0]}`, { name: "x" }],
    status: 200,
    kind: device,
  },
  {
    name: "an assigned device",
    ask: () => ["POST", "/device/assign", { device_id: ids[0], user_id: owner.id }],
    status: 200,
    kind: device,
  },
  ...["accepted", "pending", "rejected"].map((state) => ({
    name: `${state} devices`,
    ask: (): [string, string, unknown] => [
      "POST",
      "/device/state",
      { devices: ids.map((id) => ({ id, state })) },
    ],
    status: 200,
    kind: { devices: [change], changed: "number" } as const,
  })),
  {
    name: "new decisions on serial numbers",
    ask: () => [
      "POST",
      "/device/auth_decisions",
      { auth_decisions: [{ serial: "SN-77", enforce_state: "retain" }] },
    ],
    status: 200,
    kind: { auth_decisions: [decision] },
  },
  {
    name: "decisions on serial numbers",
    ask: () => ["GET", "/device/auth_decisions"],
    status: 200,
    kind: { auth_decisions: [decision] },
  },
  { name: "the keys", ask: () => ["GET", "/api_keys"], status: 200, kind: { api_keys: [key] } },
  { name: "the own key", ask: () => ["GET", "/api_keys/me"], status: 200, kind: key, only: "key" },
  {
    name: "a new key, without a body",
    ask: () => ["POST", "/api_keys"],
    status: 201,
    kind: created,
    only: "session",
  },
  { name: "a new key, to a key", ask: () => ["POST", "/api_keys"], status: 403, kind: problem, only: "key" },
  { name: "the users", ask: () => ["GET", "/users"], status: 200, kind: { map: user } },
  { name: "a user", ask: () => ["GET", `/user/${owner.id}`], status: 200, kind: user },
  {
    name: "a changed user",
    ask: () => ["POST", "/user/upsert", { id: member.id, name: "Grace" }],
    status: 200,
    kind: user,
    only: "session",
  },
  {
    name: "a new user",
    ask: () => ["POST", "/user/upsert", { username: "hopper" }],
    status: 201,
    kind: user,
    only: "session",
  },
  {
    name: "a changed user, to a key",
    ask: () => ["POST", "/user/upsert", { id: member.id, name: "Grace" }],
    status: 403,
    kind: problem,
    only: "key",
  },
  {
    name: "oneself",
    ask: () => ["GET", "/user/me"],
    status: 200,
    kind: { user, devices: { map: device } },
    only: "session",
  },
  {
    name: "oneself, changed without a body",
    ask: () => ["POST", "/user/me"],
    status: 200,
    kind: { user, devices: { map: device } },
    only: "session",
  },
  {
    name: "a user that is active",
    ask: () => ["DELETE", `/user/${member.id}`],
    status: 409,
    kind: problem,
    only: "session",
  },
  {
    name: "a login",
    ask: () => ["POST", "/user/login", { email: owner.email, password }],
    status: 200,
    kind: { user },
  },
  {
    name: "a deleted device",
    ask: (mode) => ["DELETE", `/device/${ids[modes.indexOf(mode)]}`],
    status: 204,
    kind: undefined,
  },
  { name: "a device that is gone", ask: () => ["GET", `/device/${ids[0]}`], status: 404, kind: problem },
];

describe("a strict decoder reads", () => {
  const asked = operations.flatMap((operation) =>
    (operation.only ? [operation.only] : modes).map((mode) => ({ ...operation, mode })),
  );
  test.each(asked)("$name, with a $mode", async ({ ask, status, kind, mode }) => {
    const [method, path, body] = ask(mode);
    const answer = await controller.call(method, path, { headers: credentials(mode), body });
    expect([answer.status, answer.headers.get("x-ignored-fields")]).toEqual([status, null]);
    if (kind) decode(kind, answer.json);
    else expect(answer.text).toBe("");
  });

  test("the empty answers for a revoked key and a deleted user", async () => {
    const { headers } = owner;
    const spare = await controller.makeKey();
    const { call } = controller;
    const revoked = await call("DELETE", `/api_keys/${spare.id}`, { headers: program.headers });
    await call("POST", "/user/upsert", { headers, body: { id: member.id, status: "Disabled" } });
    const deleted = await call("DELETE", `/user/${member.id}`, { headers });
    expect([revoked.status, revoked.text, deleted.status, deleted.text]).toEqual([204, "", 204, ""]);
  });

  test("no answer with one member more, less, or of another type", async () => {
    const { id } = await controller.enroll({ serial: "SN-9" });
    const one = (await controller.call("GET", `/device/${id}`, program)).json;
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

test("requests of existing clients are understood in any order of members and with any white space", async () => {
  const post = (body: string) => controller.call("POST", "/device/state", { headers: program.headers, body });
  const { id } = await controller.enroll({ serial: "SN-10" });
  for (const body of [
    `{"devices":[{"id":"${id}","state":"accepted"}]}`,
    `{\n  "devices" : [ { "state" : "pending", "id" : "${id}" } ]\n}\n`,
    `{"devices":[{"id":"${id}","state":"rejected","reason":"lost"}]}`,
  ]) {
    const { status, headers, json } = await post(body);
    expect([status, headers.get("content-type"), json.changed]).toEqual([200, "application/json", 1]);
  }
  const { json } = await controller.call("POST", "/user/login", {
    body: { email_or_username: owner.email, password },
  });
  expect(json.user.email).toBe(owner.email);
  const wrong = basic(program.id, program.key.replace("rck_", "other_"));
  expect((await controller.call("GET", "/device", { headers: wrong })).status).toBe(401);
});

describe("unknown members", () => {
  const unknown = { x_extra: 1, ünlü: { deep: true } };
  const named = "x_extra, %C3%BCnl%C3%BC";
  test.each<[string, (id: string) => [path: string, body: object], string]>([
    ["a login", () => ["/user/login", { email: owner.email, password, ...unknown }], named],
    ["a key", () => ["/api_keys", { name: "ci", id: "x", ...unknown }], `id, ${named}`],
    ["oneself", () => ["/user/me", { ...unknown }], named],
    ["a user", () => ["/user/upsert", { id: owner.id, ...unknown }], named],
    ["a device", (id) => [`/device/${id}`, { name: "x", state: "accepted", ...unknown }], `state, ${named}`],
    ["an assignment", (id) => ["/device/assign", { device_id: id, ...unknown }], named],
    [
      "states",
      (id) => [
        "/device/state",
        { devices: [1, 2].map(() => ({ id, state: "pending", note: 1 })), ...unknown },
      ],
      `devices.note, ${named}`,
    ],
    [
      "decisions",
      () => [
        "/device/auth_decisions",
        { auth_decisions: [{ serial: "SN-78", enforce_state: "none", created_at: "x" }], ...unknown },
      ],
      `auth_decisions.created_at, ${named}`,
    ],
  ])("are ignored in %s, and named in a header", async (_, request, names) => {
    const { id } = await controller.enroll();
    const [path, body] = request(id);
    const answer = await controller.call("POST", path, { headers: owner.headers, body });
    expect([answer.status, answer.headers.get("x-ignored-fields")]).toEqual([
      path === "/api_keys" ? 201 : 200,
      names,
    ]);
    const { json } = await controller.call("GET", `/device/${id}`, program);
    expect(json.state).toBe("pending");
  });

  test("are refused by operations that are new", async () => {
    const { headers } = program;
    const body = { overlap_hours: 1, x_extra: 1 };
    const { status, json } = await controller.call("POST", "/api_keys/me/rotate", { headers, body });
    expect([status, json.errors]).toEqual([
      400,
      [{ pointer: "", code: "unrecognized_keys", detail: "Unknown: x_extra." }],
    ]);
  });
});

test("ids of devices and users are case-insensitive", async () => {
  const { call } = controller;
  const { headers } = owner;
  const id = (await controller.enroll({ name: "one" })).id.toUpperCase();
  const userId = owner.id.toUpperCase();
  const state = { devices: [{ id, state: "accepted" }] };
  const changed = await call("POST", "/device/state", { headers, body: state });
  expect([changed.status, changed.json.devices[0]]).toMatchObject([
    200,
    { id, state: "accepted", changed: true },
  ]);
  const twice = { devices: [...state.devices, { id: id.toLowerCase(), state: "rejected" }] };
  expect((await call("POST", "/device/state", { headers, body: twice })).status).toBe(400);
  const assigned = await call("POST", "/device/assign", {
    headers,
    body: { device_id: id, user_id: userId },
  });
  expect([assigned.json.id, assigned.json.assigned_to_user]).toEqual([id.toLowerCase(), owner.id]);
  const statuses = [
    await call("GET", `/device/${id}`, { headers }),
    await call("POST", `/device/${id}`, { headers, body: { name: "two" } }),
    await call("GET", `/user/${userId}`, { headers }),
    await call("POST", "/user/upsert", { headers, body: { id: userId, name: "Ada" } }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 200]);
  const malformed = { devices: [{ id: "No-Such-Id", state: "accepted" }] };
  const answer = await call("POST", "/device/state", { headers, body: malformed });
  expect([answer.status, answer.json.results[0].id]).toEqual([404, "No-Such-Id"]);
});

describe("upsert", () => {
  const upsert = (body: object) => controller.call("POST", "/user/upsert", { headers: owner.headers, body });

  test("makes a user under the client's id, a UUID v4, and changes it by this id", async () => {
    const id = randomUUID();
    const made = await upsert({ id: id.toUpperCase(), email: "chosen@example.com" });
    expect([made.status, made.json.id]).toEqual([201, id]);
    const again = await upsert({ id, name: "Chosen" });
    expect([again.status, again.json.name, again.json.email]).toEqual([200, "Chosen", "chosen@example.com"]);
    for (const wrong of ["x", "00000000-0000-1000-8000-000000000000", `${randomUUID()}0`])
      expect((await upsert({ id: wrong, email: "x@example.com" })).json.errors[0].pointer).toBe("/id");
    expect((await upsert({ id: randomUUID(), name: "x" })).json.errors[0].pointer).toBe("/email");
  });

  test("accepts a user name without an email address, and keeps at least one of them", async () => {
    const made = await upsert({ username: "Grace", password });
    expect([made.status, made.json.email, made.json.username]).toEqual([201, null, "grace"]);
    const { headers, json } = await controller.call("POST", "/user/login", {
      body: { email_or_username: "grace", password },
    });
    expect(json.user).toEqual(made.json);
    const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
    const change = (body: object) => controller.call("POST", "/user/me", { headers: { cookie }, body });
    const fresh = { password: "another long password", current_password: password };
    expect((await change(fresh)).status).toBe(200);
    expect((await change({ username: null })).json.errors[0].pointer).toBe("/email");
    const { json: log } = await controller.call("GET", "/audit_log?code=user.password", program);
    expect(log.audit_log[0].actor).toMatchObject({ kind: "user", name: "grace" });
  });

  test("accepts the right to the control plane under both names", async () => {
    const rights = async (body: object) => {
      const { json, status } = await upsert({ email: "rights@example.com", ...body });
      return status >= 400 ? status : [json.authz_control_panel, json.authz_control_plane];
    };
    const made = await upsert({ email: "rights@example.com", authz_control_plane: true });
    expect([made.json.authz_control_panel, made.json.authz_control_plane]).toEqual([true, true]);
    const { id } = made.json;
    expect(await rights({ id, authz_control_panel: false })).toEqual([false, false]);
    expect(await rights({ id, authz_control_panel: true, authz_control_plane: true })).toEqual([true, true]);
    expect(await rights({ id, authz_control_panel: true, authz_control_plane: false })).toBe(400);
  });
});

test("every scope of keys allows an operation", () => {
  const allowed = new Set(
    Object.values(contracts).flatMap(({ access }) =>
      typeof access === "object" && (access.by ?? ["key"]).includes("key") ? [access.scope] : [],
    ),
  );
  // Checked by the catalog's server, which shares the keys.
  allowed.add("packages:write");
  expect(keyScopes.toSorted()).toEqual([...allowed].toSorted());
});
