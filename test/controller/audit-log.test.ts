import { beforeAll, describe, expect, test } from "vitest";
import { decide } from "./enroll-support.ts";
import { allScopes, each, setStates } from "./state-support.ts";
import { basic, password, type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
let device: string;
let made: string;
beforeAll(async () => {
  controller = await testController();
  key = await controller.makeKey(allScopes);
  const owner = await controller.makeUser("Owner");
  const user = await controller.makeUser("User");
  const { call } = controller;
  const { id, pair } = await controller.enroll({ name: "laptop", serial: "SN-1" });
  device = id;
  await setStates(controller, key, each([id], "accepted"));
  await controller.enroll({}, pair);
  await call("POST", `/device/${id}`, { ...key, body: { name: "other" } });
  await call("POST", "/device/assign", { ...key, body: { device_id: id, user_id: user.id } });
  await setStates(controller, key, each([id], "rejected"));
  await call("DELETE", `/device/${id}`, key);
  await decide(controller, key, { "SN-2": "accepted" });
  made = (await call("POST", "/api_keys", { ...owner, body: { name: "spare" } })).json.id;
  await call("POST", `/api_keys/${made}`, { ...owner, body: { name: "spare part" } });
  await call("POST", `/api_keys/${made}/rotate`, owner);
  await call("DELETE", `/api_keys/${made}`, owner);
  await call("GET", "/device", { headers: basic(made, "rck_00000000-0000-4000-8000-000000000000") });
  await call("POST", "/user/login", { body: { email: user.email, password: `${password}x` } });
  await call("POST", "/user/logout", owner);
});

interface Row {
  seq: number;
  at: string;
  actor: { kind: string; id: string | null; name: string | null; ip: string | null };
  request_id: string | null;
  code: string;
  target: { kind: string; id: string } | null;
}
const read = async (query = "", more: Record<string, string> = {}): Promise<Row[]> =>
  (await controller.call("GET", `/audit_log${query}`, { headers: { ...key.headers, ...more } })).json
    .audit_log;

describe("the audit log", () => {
  test("has every change with its user, address and request", async () => {
    const rows = await read("?after=0&limit=1000");
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
    expect(new Set(rows.map(({ code }) => code))).toEqual(
      new Set([
        ...["device.enrolled", "device.state", "device.token", "device.renamed", "device.assigned"],
        ...["device.deleted", "serial.decided", "key.created", "key.updated", "key.rotated", "key.revoked"],
        ...["user.created", "session.opened", "session.closed", "auth.failed"],
      ]),
    );
    const overHttp = rows.filter(({ actor }) => actor.kind !== "host");
    for (const { actor, request_id, at } of overHttp) {
      expect(actor.ip).toBe("127.0.0.1");
      expect(request_id).toMatch(/^[\w.-]{1,64}$/);
      expect(at).toBe(new Date(controller.now()).toISOString());
      if (actor.kind === "key" || actor.kind === "user") expect(actor.id).toMatch(/^[0-9a-f-]{36}$/);
    }
    const kinds = Object.fromEntries(overHttp.map(({ code, actor }) => [code, actor.kind]));
    expect(kinds).toMatchObject({
      "device.enrolled": "device",
      "device.token": "device",
      "device.state": "key",
      "key.created": "user",
      "session.opened": "user",
      "auth.failed": "nobody",
    });
  });

  test("has the request id of the client and of the answer", async () => {
    const sent = { "x-request-id": "deploy-42" };
    const answer = await controller.call("POST", "/device/auth_decisions", {
      headers: { ...key.headers, ...sent },
      body: { auth_decisions: [{ serial: "SN-3", enforce_state: "rejected" }] },
    });
    expect(answer.headers.get("x-request-id")).toBe("deploy-42");
    expect((await read("?limit=1"))[0]?.request_id).toBe("deploy-42");
    await controller.call("POST", "/device/auth_decisions", {
      headers: { ...key.headers, "x-request-id": "<script>" },
      body: { auth_decisions: [{ serial: "SN-3", enforce_state: "none" }] },
    });
    expect((await read("?limit=1"))[0]?.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("has no secret", async () => {
    const { text } = await controller.call("GET", "/audit_log?limit=1000", key);
    expect(text).not.toMatch(/rck_|rcu_|rcd_|argon2|digest|correct horse|relcat-session/);
  });

  test("still names deleted users, devices and keys", async () => {
    expect((await read(`?target=${made}`)).map(({ code }) => code)).toEqual([
      "auth.failed",
      "key.revoked",
      "key.rotated",
      "key.updated",
      "key.created",
    ]);
  });
});

describe("a page of the audit log", () => {
  test("is the newest hundred rows, and after continues from a row", async () => {
    const newest = await read();
    const oldest = await read("?after=0");
    expect(newest.map(({ seq }) => seq)).toEqual(oldest.map(({ seq }) => seq).toReversed());
    const [, second, third, fourth] = oldest;
    expect(await read(`?after=${second?.seq}&limit=2`)).toEqual([third, fourth]);
    expect(await read(`?before=${third?.seq}&limit=1`)).toEqual([second]);
    expect(await read(`?after=${second?.seq}&before=${fourth?.seq}`)).toEqual([third]);
    expect(await read("?after=999999999999999")).toEqual([]);
  });

  test("can be filtered by one code or one target", async () => {
    const states = await read("?code=device.state");
    expect(states.map(({ target }) => target?.id)).toEqual([device, device]);
    const history = await read(`?target=${device}&after=0`);
    expect(history.map(({ code }) => code)).toEqual([
      ...["device.enrolled", "device.state", "device.token", "device.renamed"],
      ...["device.assigned", "device.state", "device.deleted"],
    ]);
    expect(await read(`?target=${encodeURIComponent("' or 1=1 --")}`)).toEqual([]);
  });

  test.each([
    "limit=0",
    "limit=1001",
    "limit=1e3",
    "after=-1",
    "before=x",
    "codes=x",
    "code=",
    "after=1&after=2",
  ])("refuses %s", async (query) => {
    expect((await controller.call("GET", `/audit_log?${query}`, key)).status).toBe(400);
  });

  test("has every row once, together with the other pages", async () => {
    const all = await read("?after=0&limit=1000");
    const seen: Row[] = [];
    for (let page = await read("?after=0&limit=4"); page.length > 0; ) {
      seen.push(...page);
      page = await read(`?after=${page.at(-1)?.seq}&limit=4`);
    }
    expect(seen).toEqual(all);
  });
});
