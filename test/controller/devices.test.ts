import { beforeAll, describe, expect, test } from "vitest";
import { type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
beforeAll(async () => {
  controller = await testController();
  key = await controller.makeKey(["devices:read", "devices:state", "devices:write"]);
});

describe("a new device", () => {
  test("enrols, waits, is accepted and gets its token once", async () => {
    const { call, enroll } = controller;
    const first = await enroll({
      name: "laptop-7",
      serial: "SN-1001",
      device_type: "laptop",
      device_os: "linux",
    });
    expect([first.status, first.json]).toEqual([201, { id: first.id, state: "pending" }]);
    const body = { devices: [{ id: first.id, state: "accepted" }] };
    const accepted = await call("POST", "/device/state", { headers: key.headers, body });
    expect(accepted.json).toEqual({
      devices: [{ id: first.id, state: "accepted", previous_state: "pending", changed: true, version: 2 }],
      changed: 1,
    });
    const second = await enroll({}, first.pair);
    expect([second.status, second.json]).toEqual([
      200,
      { id: first.id, state: "accepted", token: expect.stringMatching(/^rcd_/) },
    ]);
    expect((await enroll({}, first.pair)).json).toEqual({ id: first.id, state: "accepted" });
  });
});

describe("a device", () => {
  const read = (id: string) => controller.call("GET", `/device/${id}`, key);
  const rename = (id: string, name: unknown) =>
    controller.call("POST", `/device/${id}`, { ...key, body: { name } });
  const assign = (body: object) => controller.call("POST", "/device/assign", { ...key, body });
  const enrolled = async () => (await controller.enroll({ name: "laptop" })).id;

  test("has its members as texts or null", async () => {
    const { id, pair } = await controller.enroll({ name: "laptop", serial: "SN-1", version: "26.08.1" });
    const moment = new Date(controller.now()).toISOString();
    expect((await read(id)).json).toEqual({
      id,
      name: "laptop",
      state: "pending",
      serial: "SN-1",
      public_key: pair.publicKey,
      ipv6: null,
      device_type: null,
      device_os: null,
      controller_id: controller.controller.id,
      owned_by_org: null,
      assigned_to_user: null,
      last_seen: moment,
      last_seen_version: "26.08.1",
      version: 1,
      created_at: moment,
      state_changed_at: moment,
      state_changed_by: null,
      state_reason: null,
    });
  });

  test("can be renamed, with unique names", async () => {
    const id = await enrolled();
    expect((await rename(id, "Büro 7")).json).toMatchObject({ id, name: "Büro 7", version: 2 });
    expect((await rename(id, "Büro 7")).json).toMatchObject({ version: 2 });
    expect((await rename(id, null)).json).toMatchObject({ name: null, version: 3 });
    expect((await read(id)).json).toMatchObject({ name: null, version: 3 });
  });

  test.each([["line\nbreak"], ["\u0000"], ["\u2028"], [""], ["x".repeat(256)], [7]])(
    "refuses the name %j",
    async (name) => {
      const id = await enrolled();
      expect((await rename(id, name)).status).toBe(400);
      expect((await read(id)).json).toMatchObject({ name: "laptop", version: 1 });
    },
  );

  test("can be assigned to an existing user, and unassigned", async () => {
    const id = await enrolled();
    const user = await controller.makeUser("User");
    const assigned = await assign({ device_id: id, user_id: user.id });
    expect(assigned.json).toMatchObject({ assigned_to_user: user.id, version: 2 });
    const me = await controller.call("GET", "/user/me", user);
    expect(Object.keys(me.json.devices)).toEqual([id]);
    expect((await assign({ device_id: id, user_id: "nobody" })).status).toBe(404);
    expect((await assign({ device_id: "nothing", user_id: user.id })).status).toBe(404);
    expect((await assign({ device_id: id })).json).toMatchObject({ assigned_to_user: null, version: 3 });
  });

  test("can be deleted only if it is rejected", async () => {
    const { id } = await controller.enroll({ serial: "SN-gone" });
    const remove = () => controller.call("DELETE", `/device/${id}`, key);
    for (const state of ["pending", "accepted"]) {
      await controller.call("POST", "/device/state", { ...key, body: { devices: [{ id, state }] } });
      expect([state, (await remove()).status, (await read(id)).status]).toEqual([state, 409, 200]);
    }
    await controller.call("POST", "/device/state", {
      ...key,
      body: { devices: [{ id, state: "rejected" }] },
    });
    expect((await remove()).status).toBe(204);
    expect([(await read(id)).status, (await remove()).status]).toEqual([404, 404]);
    expect((await controller.enroll({ serial: "SN-gone" })).json.state).toBe("rejected");
  });

  test.each(["' or 1=1 --", "1; drop table devices", "%25", "__proto__", "x".repeat(4000)])(
    "is not found as %s",
    async (id) => {
      expect((await read(encodeURIComponent(id))).status).toBe(404);
      expect((await rename(encodeURIComponent(id), "x")).status).toBe(404);
      expect((await controller.call("DELETE", `/device/${encodeURIComponent(id)}`, key)).status).toBe(404);
    },
  );
});
