import { beforeEach, describe, expect, test } from "vitest";
import { allScopes, each, insertDevices, setStates, statesOf, visible } from "./state-support.ts";
import { type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
let ids: string[];
beforeEach(async () => {
  controller = await testController({ settings: { mostAccepted: 4 } });
  key = await controller.makeKey(allScopes);
  ids = await insertDevices(controller, 6);
});

const id = (index: number) => ids[index] ?? "";
const unknown = "00000000-0000-4000-8000-000000000000";
const states = () => statesOf(controller, key);
const rows = async () => (await controller.call("GET", "/audit_log?code=device.state", key)).json.audit_log;

describe("a valid bulk", () => {
  test("is answered item by item in its order, and writes a row for each change", async () => {
    const items = [
      { id: id(4), state: "rejected" as const, reason: "stolen" },
      { id: id(0), state: "accepted" as const },
      { id: id(2), state: "pending" as const },
    ];
    const { status, json } = await setStates(controller, key, items);
    expect([status, json]).toEqual([
      200,
      {
        devices: [
          { id: id(4), state: "rejected", previous_state: "pending", changed: true, version: 2 },
          { id: id(0), state: "accepted", previous_state: "pending", changed: true, version: 2 },
          { id: id(2), state: "pending", previous_state: "pending", changed: false, version: 1 },
        ],
        changed: 2,
      },
    ]);
    expect(await states()).toEqual(["accepted", "pending", "pending", "pending", "rejected", "pending"]);
    const device = (await controller.call("GET", `/device/${id(4)}`, key)).json;
    expect(device).toMatchObject({ state_reason: "stolen", state_changed_by: `key:${key.id}` });
    const logged = (await rows()).map(({ target, before, after }: Record<string, { id?: string }>) => [
      target?.id,
      before,
      after,
    ]);
    expect(logged).toEqual([
      [id(0), { state: "pending" }, { state: "accepted" }],
      [id(4), { state: "pending" }, { state: "rejected", reason: "stolen" }],
    ]);
  });

  test("changes nothing the second time", async () => {
    const items = each([id(0), id(1)], "accepted");
    await setStates(controller, key, items);
    const before = await visible(controller, key);
    const { status, json } = await setStates(controller, key, items);
    expect([status, json.changed]).toEqual([200, 0]);
    expect(json.devices.map(({ version }: { version: number }) => version)).toEqual([2, 2]);
    expect(await visible(controller, key)).toEqual(before);
  });

  test("changes a device once even if it is listed twice", async () => {
    const { json } = await setStates(controller, key, each([id(0), id(1), id(0)], "rejected"));
    expect(json.changed).toBe(2);
    expect(json.devices[0]).toEqual(json.devices[2]);
    expect(await rows()).toHaveLength(2);
  });

  test("can free the places that it uses", async () => {
    await setStates(controller, key, each(ids.slice(0, 4), "accepted"));
    const exchange = [...each([id(0)], "pending"), ...each([id(5)], "accepted")];
    expect((await setStates(controller, key, exchange)).status).toBe(200);
    expect(await states()).toEqual(["pending", "accepted", "accepted", "accepted", "pending", "accepted"]);
  });

  test("with dry_run has the same answer, and changes nothing", async () => {
    const before = await visible(controller, key);
    const items = each(ids.slice(0, 3), "accepted");
    const tried = await setStates(controller, key, items, { dry_run: true });
    expect(tried.json).toMatchObject({ changed: 3, dry_run: true });
    expect(await visible(controller, key)).toEqual(before);
    const done = await setStates(controller, key, items, { dry_run: false });
    expect(done.json).toEqual({ devices: tried.json.devices, changed: 3 });
  });
});

describe("an invalid bulk", () => {
  const good = () => each([id(0), id(1)], "accepted");
  const cases = {
    "an unknown id": [404, () => [...good(), ...each([unknown], "accepted")], "not-found"],
    "SQL for an id": [404, () => [...good(), ...each(["' or '1'='1"], "accepted")], "not-found"],
    "another version": [
      409,
      () => [...good(), { ...each([id(2)], "rejected")[0], if_version: 7 }],
      "version-conflict",
    ],
    "too many accepted": [409, () => each(ids, "accepted"), "limit-reached"],
  } as const;

  test.each(Object.entries(cases))(
    "%s is not applied, and each item has the reason",
    async (_, [code, make, error]) => {
      const items = make() as ReturnType<typeof good>;
      const before = await visible(controller, key);
      const { status, json, headers } = await setStates(controller, key, items);
      expect([status, headers.get("content-type")]).toEqual([code, "application/problem+json"]);
      expect(json.results.map((result: { id: string }) => result.id)).toEqual(items.map((item) => item.id));
      expect(json.results.at(-1)).toMatchObject({ error });
      expect(json.results[0]).toMatchObject({ previous_state: "pending", state: "accepted" });
      expect(await visible(controller, key)).toEqual(before);
    },
  );

  test.each(Object.entries(cases))(
    "%s is applied in part if the client prefers that",
    async (_, [, make, error]) => {
      const items = make() as ReturnType<typeof good>;
      const { status, json, headers } = await setStates(
        controller,
        key,
        items,
        {},
        "respond-async, handling=lenient",
      );
      expect([status, headers.get("preference-applied")]).toEqual([200, "handling=lenient"]);
      expect(json.devices.map((result: { id: string }) => result.id)).toEqual(items.map((item) => item.id));
      expect(json.devices.at(-1)).toMatchObject({ error });
      expect(await rows()).toHaveLength(json.changed);
      expect((await states()).slice(0, 2)).toEqual(["accepted", "accepted"]);
    },
  );

  test("is refused if its if_version is not the latest version", async () => {
    const item = { id: id(0), state: "accepted" as const, if_version: 1 };
    expect((await setStates(controller, key, [item])).status).toBe(200);
    expect((await setStates(controller, key, [{ ...item, state: "rejected" }])).status).toBe(409);
    expect((await setStates(controller, key, [{ ...item, state: "rejected", if_version: 2 }])).status).toBe(
      200,
    );
  });

  test("cannot set two states of one device", async () => {
    const items = [...good(), ...each([id(0)], "rejected")];
    const { status, json } = await setStates(controller, key, items, {}, "handling=lenient");
    expect([status, json.errors[0].pointer]).toEqual([400, "/devices/2/state"]);
    expect(await rows()).toEqual([]);
  });

  test.each([
    ["nothing", {}],
    ["no items", { devices: [] }],
    ["an unknown state", { devices: [{ id: "x", state: "Accepted" }] }],
    ["no state", { devices: [{ id: "x" }] }],
    ["a version that is none", { devices: [{ id: "x", state: "accepted", if_version: -1 }] }],
    ["a reason with line breaks", { devices: [{ id: "x", state: "accepted", reason: "a\nb" }] }],
    ["a list", []],
    ["null", null],
  ])("%s is refused", async (_, body) => {
    const { status, json } = await controller.call("POST", "/device/state", { ...key, body });
    expect([status, json.type]).toEqual([400, "urn:relcat:problem:invalid"]);
  });
});

describe("the size of a bulk", () => {
  test("is 1,000 items at most", async () => {
    const many = await insertDevices(controller, 1001);
    expect((await setStates(controller, key, each(many, "rejected"))).status).toBe(400);
    expect(await rows()).toEqual([]);
    const { json } = await setStates(controller, key, each(many.slice(0, 1000), "rejected"));
    expect(json.changed).toBe(1000);
    const audit = await controller.call("GET", "/audit_log?code=device.state&limit=1000", key);
    expect(new Set(audit.json.audit_log.map((row: { request_id: string }) => row.request_id)).size).toBe(1);
    expect(audit.json.audit_log).toHaveLength(1000);
  });

  test("is one MiB at most", async () => {
    const body = JSON.stringify({ devices: each([id(0)], "rejected") });
    const post = (bytes: number) =>
      controller.call("POST", "/device/state", { ...key, body: body.padEnd(bytes, " ") });
    expect((await post(1024 * 1024 + 1)).status).toBe(413);
    expect((await post(1024 * 1024)).json.changed).toBe(1);
  });
});

describe("a device that is no longer accepted", () => {
  test("loses its token at once, and gets another one when it is accepted again", async () => {
    const { id: own, pair, ...first } = await controller.enroll({ serial: "SN-77" });
    expect(first.json).not.toHaveProperty("token");
    const tokens: string[] = [];
    for (const state of ["rejected", "pending"] as const) {
      await setStates(controller, key, each([own], "accepted"));
      tokens.push((await controller.enroll({}, pair)).json.token);
      await setStates(controller, key, each([own], state));
      const row = await controller.controller.database.read
        .selectFrom("devices")
        .select("token_digest")
        .where("id", "=", own)
        .executeTakeFirst();
      expect(row?.token_digest).toBeNull();
      expect((await controller.enroll({}, pair)).json).toEqual({ id: own, state });
    }
    expect(new Set(tokens).size).toBe(2);
    expect(tokens.every((token) => /^rcd_/.test(token))).toBe(true);
  });
});
