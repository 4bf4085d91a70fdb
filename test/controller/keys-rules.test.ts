import { beforeAll, describe, expect, test } from "vitest";
import { keyScopes as scopes } from "../../controller/server/access.ts";
import { basic, caller, type TestController, type TestUser, testController } from "./support.ts";

let controller: TestController;
let owner: TestUser;
let latest: ReturnType<typeof caller>;
beforeAll(async () => {
  controller = await testController();
  owner = await controller.makeUser("Owner");
  latest = caller(`${controller.url}/latest`);
});

const make = (headers: Record<string, string>, body?: unknown, type?: string) =>
  controller.call("POST", "/api_keys", {
    headers: { ...headers, ...(type !== undefined && { "content-type": type }) },
    body,
  });

describe("a new key", () => {
  test("can be made without a body, and reads devices and sets their state", async () => {
    const { status, json } = await make(owner.headers);
    expect([status, json]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        key: expect.stringMatching(
          /^rck_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        ),
        name: null,
        scopes: ["devices:read", "devices:state"],
        created_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ]);
    expect((await make(owner.headers, "", "application/json")).status).toBe(201);
    expect((await make(owner.headers, undefined, "text/plain")).status).toBe(201);
  });

  test.each([
    { id: "00000000-0000-4000-8000-000000000000" },
    { key: "rck_00000000-0000-4000-8000-000000000000" },
    { created_by: "user:somebody" },
    { role: "Owner" },
    { expires_at: "2999-01-01T00:00:00.000Z" },
    { owner: null },
    { digest: "00" },
    { created_at: "2000-01-01T00:00:00.000Z" },
    { revoked_at: null },
    { disabled: false },
    { scope: "devices:read" },
  ])("ignores a member that the maker cannot set, and names it: %j", async (injected) => {
    const { status, headers, json } = await make(owner.headers, { name: "mine", ...injected });
    expect([status, headers.get("x-ignored-fields")]).toEqual([201, Object.keys(injected)[0]]);
    const plain = (await make(owner.headers, { name: "mine" })).json;
    expect(json).toEqual({ ...plain, id: json.id, key: json.key });
    expect([Object.values(injected)[0]]).not.toContain(json.id);
    expect([Object.values(injected)[0]]).not.toContain(json.key);
    const list = await controller.call("GET", "/api_keys", { headers: owner.headers });
    const made = list.json.api_keys.find(({ id }: { id: string }) => id === json.id);
    expect(made).toMatchObject({ created_by: `user:${owner.id}`, revoked_at: null, scopes: plain.scopes });
  });

  test("has no more rights than its maker, even through a token", async () => {
    const user = await controller.makeUser("FullAdministrator");
    const body = { scopes: ["api_keys:write", "devices:read"] };
    const { json: token } = await latest("POST", "/user/tokens", { headers: user.headers, body });
    const headers = basic(token.id, token.key);
    const excess = await latest("POST", "/api_keys", { headers, body: { scopes: ["devices:state"] } });
    expect([excess.status, excess.json.errors[0].pointer]).toEqual([400, "/scopes"]);
    expect((await latest("POST", "/api_keys", { headers, body: { scopes: ["api_keys:*"] } })).status).toBe(
      400,
    );
    expect((await latest("POST", "/api_keys", { headers })).json.scopes).toEqual(["devices:read"]);
    const all = await latest("POST", "/api_keys", { headers: owner.headers, body: { scopes } });
    const stolen = await latest("POST", `/api_keys/${all.json.id}/rotate`, { headers });
    const lacking = [403, expect.stringMatching(/^The key has more rights than you: .*users:read/)];
    expect([stolen.status, stolen.json.detail]).toEqual(lacking);
    const set = async (by: Record<string, string>, disabled: boolean) => {
      const answer = await latest("POST", `/api_keys/${all.json.id}`, { headers: by, body: { disabled } });
      return [answer.status, answer.json.detail];
    };
    expect(await set(headers, true)).toEqual([200, undefined]);
    expect(await set(headers, false)).toEqual(lacking);
    expect(await set(owner.headers, false)).toEqual([200, undefined]);
  });

  test("gets all scopes of a kind with a star", async () => {
    const { json } = await make(owner.headers, { scopes: ["users:*", "api_keys:*", "users:read"] });
    expect(json.scopes).toEqual(["api_keys:read", "api_keys:write", "users:read"]);
    // No key may change users, so that is not offered.
    for (const wrong of ["users:write", "*", "devices:*", "audit:*", "owner", "Devices:read", ""])
      expect((await make(owner.headers, { scopes: [wrong] })).status).toBe(400);
  });

  test("can only be made by users: a key with all scopes makes none, at any address", async () => {
    const { headers } = await controller.makeKey(scopes);
    const other = await controller.makeKey();
    const attempts: [string, string, unknown?][] = [
      ["POST", "/api_keys"],
      ["POST", "/api_keys", { scopes: [] }],
      ["POST", `/api_keys/${other.id}/rotate`],
      ["POST", `/api_keys/${other.id}`, { disabled: false }],
      ["POST", "/user/tokens"],
    ];
    for (const [method, path, body] of attempts) {
      const { status } = await controller.call(method, path, { headers, body });
      expect([path, status]).toEqual([path, 403]);
      expect((await latest(method, path, { headers, body })).status).toBe(403);
    }
    // A key may rotate its own secret.
    expect((await controller.call("POST", "/api_keys/me/rotate", { headers })).status).toBe(200);
  });
});

describe("a token", () => {
  test("has its scopes, limited by the current role of its user", async () => {
    const user = await controller.makeUser("FullAdministrator");
    const { json } = await latest("POST", "/user/tokens", {
      headers: user.headers,
      body: { scopes: ["users:read", "devices:read"] },
    });
    expect(json.key).toMatch(/^rcu_/);
    const headers = basic(json.id, json.key);
    const able = async () =>
      Promise.all(
        ["/users", "/device", "/audit_log"].map(
          async (path) => (await latest("GET", path, { headers })).status,
        ),
      );
    expect(await able()).toEqual([200, 200, 403]);
    const change = { id: user.id, role: "LimitedAdministrator", authz_devices: true };
    await controller.call("POST", "/user/upsert", { headers: owner.headers, body: change });
    expect(await able()).toEqual([403, 200, 403]);
  });

  test("is invisible to other users, even to an Owner", async () => {
    const user = await controller.makeUser("User");
    const { json } = await latest("POST", "/user/tokens", { headers: user.headers });
    const attempts: [string, string, unknown?][] = [
      ["DELETE", `/user/tokens/${json.id}`],
      ["DELETE", `/api_keys/${json.id}`],
      ["POST", `/api_keys/${json.id}`, { disabled: true }],
      ["POST", `/api_keys/${json.id}/rotate`],
    ];
    for (const [method, path, body] of attempts) {
      const { status } = await controller.call(method, path, { headers: owner.headers, body });
      expect([path, status]).toEqual([path, 404]);
    }
    const lists = await Promise.all(
      ["/api_keys", "/user/tokens"].map((path) => controller.call("GET", path, { headers: owner.headers })),
    );
    for (const { text } of lists) expect(text).not.toContain(json.id);
    expect((await latest("GET", "/api_keys/me", { headers: basic(json.id, json.key) })).status).toBe(200);
  });

  test("makes no tokens, and changes no password", async () => {
    const { json } = await latest("POST", "/user/tokens", { headers: owner.headers, body: { scopes } });
    const headers = basic(json.id, json.key);
    expect((await latest("POST", "/user/tokens", { headers })).status).toBe(403);
    expect((await latest("POST", "/user/me", { headers, body: { name: "x" } })).status).toBe(403);
    expect((await latest("POST", "/user/upsert", { headers, body: {} })).status).toBe(403);
  });
});

describe("a list of keys", () => {
  test("has one's own key or the properties of all keys, and never a digest or a secret", async () => {
    const key = await controller.makeKey(scopes);
    await controller.makeKey();
    const own = await controller.call("GET", "/api_keys/me", { headers: key.headers });
    expect(own.json.id).toBe(key.id);
    const { json: rotated } = await controller.call("POST", "/api_keys/me/rotate", { headers: key.headers });
    const list = await controller.call("GET", "/api_keys", { headers: key.headers });
    const members = [
      "id",
      "name",
      "scopes",
      "created_by",
      "created_at",
      "expires_at",
      "disabled",
      "revoked_at",
      "last_used_at",
      "previous_until",
    ];
    for (const row of [own.json, ...list.json.api_keys]) expect(Object.keys(row)).toEqual(members);
    for (const { text } of [own, list]) {
      expect(text).not.toMatch(/digest|"key"/);
      for (const secret of [key.key, rotated.key]) expect(text).not.toContain(secret.slice(4));
    }
  });
});

describe("the refusal of a caller without the right", () => {
  const detailOf = async (
    headers: Record<string, string>,
    method: string,
    path: string,
    ask = controller.call,
  ) => {
    const { status, json } = await ask(method, path, { headers });
    return [status, json.detail];
  };

  test("names the scope that a key lacks", async () => {
    const { headers } = await controller.makeKey(["users:read"]);
    expect(await detailOf(headers, "GET", "/device")).toEqual([403, "The scope devices:read is missing."]);
    expect(await detailOf(headers, "POST", "/device/state")).toEqual([
      403,
      "The scope devices:state is missing.",
    ]);
  });

  test("says who can do it if no scope allows it", async () => {
    const { headers } = await controller.makeKey(scopes);
    const user = "API keys cannot do this: sign in as a user.";
    for (const path of ["/api_keys", "/user/tokens", "/user/upsert"])
      expect(await detailOf(headers, "POST", path)).toEqual([403, user]);
    const session = "Sessions cannot do this: send an API key or a token.";
    expect(await detailOf(owner.headers, "GET", "/api_keys/me")).toEqual([403, session]);
    const { json } = await controller.call("POST", "/user/tokens", { headers: owner.headers, body: {} });
    const token = "Tokens cannot do this: sign in with a password.";
    expect(await detailOf(basic(json.id, json.key), "POST", "/user/tokens", latest)).toEqual([403, token]);
  });

  test("names the role in a session", async () => {
    const { headers } = await controller.makeUser("User");
    expect(await detailOf(headers, "GET", "/users")).toEqual([403, "Your role does not allow this."]);
  });
});
