import { beforeAll, describe, expect, test } from "vitest";
import { beginPost, keptAlive, openStream } from "./access-connections.ts";
import { tokenOf } from "./access-principals.ts";
import { password, type TestController, type TestUser, testController } from "./support.ts";

let controller: TestController;
let owner: TestUser;
beforeAll(async () => {
  controller = await testController();
  owner = await controller.makeUser("Owner");
});

const asOwner = (method: string, path: string, body?: unknown) =>
  controller.call(method, path, { headers: owner.headers, ...(body !== undefined && { body }) });
const change = (id: string, body: object) => asOwner("POST", "/user/upsert", { id, ...body });

/** Credentials that read devices, the change that revokes them, and the answer afterwards. */
interface Case {
  make(): Promise<{ headers: Record<string, string>; takeAway(): Promise<{ status: number }> }>;
  afterwards: number;
}

const cases: Record<string, Case> = {
  "a key that is revoked": {
    afterwards: 401,
    async make() {
      const { id, headers } = await controller.makeKey();
      return { headers, takeAway: () => asOwner("DELETE", `/api_keys/${id}`) };
    },
  },
  "a key that is disabled": {
    afterwards: 401,
    async make() {
      const { id, headers } = await controller.makeKey();
      return { headers, takeAway: () => asOwner("POST", `/api_keys/${id}`, { disabled: true }) };
    },
  },
  "a key whose secret is rotated without overlap": {
    afterwards: 401,
    async make() {
      const { id, headers } = await controller.makeKey();
      return { headers, takeAway: () => asOwner("POST", `/api_keys/${id}/rotate`, { overlap_hours: 0 }) };
    },
  },
  "a token that is revoked": {
    afterwards: 401,
    async make() {
      const user = await controller.makeUser("FullAdministrator");
      const { call } = controller;
      const headers = await tokenOf(controller, user);
      const { json } = await call("GET", "/user/tokens", { headers: user.headers });
      const { id } = json.api_keys.at(-1);
      return {
        headers,
        takeAway: () => call("DELETE", `/user/tokens/${id}`, { headers: user.headers }),
      };
    },
  },
  "the token of a user who is disabled": {
    afterwards: 401,
    async make() {
      const user = await controller.makeUser("FullAdministrator");
      const headers = await tokenOf(controller, user);
      return { headers, takeAway: () => change(user.id, { status: "Disabled" }) };
    },
  },
  "the token of a user who gets another role": {
    afterwards: 403,
    async make() {
      const user = await controller.makeUser("FullAdministrator");
      const headers = await tokenOf(controller, user);
      return { headers, takeAway: () => change(user.id, { role: "User" }) };
    },
  },
  "the session of a user who is disabled": {
    afterwards: 401,
    async make() {
      const { id, headers } = await controller.makeUser("FullAdministrator");
      return { headers, takeAway: () => change(id, { status: "Disabled" }) };
    },
  },
  "the session of a user who gets another role": {
    afterwards: 403,
    async make() {
      const { id, headers } = await controller.makeUser("FullAdministrator");
      return { headers, takeAway: () => change(id, { role: "User" }) };
    },
  },
  "the session of a user who loses a right": {
    afterwards: 403,
    async make() {
      const { id, headers } = await controller.makeUser("LimitedAdministrator", { authz_devices: 1 });
      return { headers, takeAway: () => change(id, { authz_devices: false }) };
    },
  },
  "the session of a user whose password another user changes": {
    afterwards: 401,
    async make() {
      const { id, headers } = await controller.makeUser("FullAdministrator");
      return { headers, takeAway: () => change(id, { password: "another long password" }) };
    },
  },
  "the session of a user who changes the password in another session": {
    afterwards: 401,
    async make() {
      const { call, makeUser } = controller;
      const { email, headers } = await makeUser("FullAdministrator");
      const login = await call("POST", "/user/login", { body: { email, password } });
      const elsewhere = { cookie: login.headers.get("set-cookie")?.split(";")[0] ?? "" };
      const body = { password: "another long password", current_password: password };
      return { headers, takeAway: () => call("POST", "/user/me", { headers: elsewhere, body }) };
    },
  },
  "a session that is signed out": {
    afterwards: 401,
    async make() {
      const { headers } = await controller.makeUser("FullAdministrator");
      return { headers, takeAway: () => controller.call("POST", "/user/logout", { headers }) };
    },
  },
};

describe.each(Object.entries(cases))("%s", (_name, { make, afterwards }) => {
  test("loses its rights on an open connection", async () => {
    const { headers, takeAway } = await make();
    const ask = keptAlive(controller.url, headers);
    expect((await ask("/latest/device")).status).toBe(200);
    expect(await ask("/latest/device")).toEqual({ status: 200, isSame: true });
    expect((await takeAway()).status).toBeLessThan(300);
    expect(await ask("/latest/device")).toEqual({ status: afterwards, isSame: true });
  });

  test("loses its event stream", async () => {
    const { headers, takeAway } = await make();
    const stream = await openStream(`${controller.url}/latest/events`, headers);
    expect(stream.status).toBe(200);
    expect((await takeAway()).status).toBeLessThan(300);
    expect(await stream.ended).not.toContain("data:");
  });
});

test("events after a revocation are not sent on the key's stream", async () => {
  const { id, headers } = await controller.makeKey();
  const stream = await openStream(`${controller.api}/events`, headers);
  await Promise.all([asOwner("DELETE", `/api_keys/${id}`)]);
  await controller.enroll({ name: "too-late" });
  expect(await stream.ended).not.toContain("too-late");
});

test("a request whose body arrives after a revocation changes nothing", async () => {
  const { id, headers } = await controller.makeKey();
  const device = await controller.enroll();
  const body = JSON.stringify({ devices: [{ id: device.id, state: "accepted" }] });
  const send = await beginPost(`${controller.api}/device/state`, headers, body);
  await asOwner("DELETE", `/api_keys/${id}`);
  expect(await send()).toBe(401);
  expect((await asOwner("GET", `/device/${device.id}`)).json.state).toBe("pending");
});

test("a key that is enabled again works again", async () => {
  const { id, headers } = await controller.makeKey();
  await asOwner("POST", `/api_keys/${id}`, { disabled: true });
  expect((await controller.call("GET", "/device", { headers })).status).toBe(401);
  await asOwner("POST", `/api_keys/${id}`, { disabled: false });
  expect((await controller.call("GET", "/device", { headers })).status).toBe(200);
});

test("a revoked key remains in the list with its scopes", async () => {
  const { id } = await controller.makeKey();
  await asOwner("DELETE", `/api_keys/${id}`);
  const { json } = await asOwner("GET", "/api_keys");
  const row = json.api_keys.find((key: { id: string }) => key.id === id);
  expect(row).toMatchObject({ id, revoked_at: new Date(controller.now()).toISOString() });
  expect((await asOwner("POST", `/api_keys/${id}/rotate`)).status).toBe(409);
});
