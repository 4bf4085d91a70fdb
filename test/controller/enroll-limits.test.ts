import { expect, test } from "vitest";
import { proven, send } from "./enroll-support.ts";
import { allScopes, each, insertDevices, setStates } from "./state-support.ts";
import { testController } from "./support.ts";

test("a flood stops at the limit, hides and deletes no device, and is recorded once", async () => {
  const controller = await testController({ settings: { mostPending: 25 } });
  const key = await controller.makeKey(allScopes);
  const early = await insertDevices(controller, 20);
  const known = await controller.enroll({ name: "early" });
  const bodies = await Promise.all(Array.from({ length: 20 }, () => proven(controller)));
  const answers = await Promise.all(bodies.map((body) => send(controller, body)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(4);
  const refused = answers.filter(({ status }) => status === 503);
  expect(refused).toHaveLength(16);
  expect(refused[0]?.json.type).toBe("urn:relcat:problem:enrolment-full");
  expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);

  const { json } = await controller.call("GET", "/device?state=pending", key);
  expect(Object.keys(json.devices)).toHaveLength(25);
  expect(Object.keys(json.devices).slice(0, 21)).toEqual([...early, known.id]);
  expect((await controller.enroll({}, known.pair)).status).toBe(200);
  const full = () => controller.call("GET", "/audit_log?code=enrolment.full", key);
  expect((await full()).json.audit_log).toMatchObject([
    { after: { pending: 25 }, actor: { kind: "device" } },
  ]);
  expect(controller.said.filter((line) => line.startsWith("Enrolment is full"))).toHaveLength(1);

  controller.setTime(controller.now() + 3_600_001);
  expect((await controller.enroll()).status).toBe(503);
  expect((await full()).json.audit_log).toHaveLength(2);
  await setStates(controller, key, each(early.slice(0, 1), "rejected"));
  expect((await controller.enroll()).status).toBe(201);
});

test("devices that are accepted in advance enrol even if many others wait", async () => {
  const controller = await testController({ settings: { mostPending: 1 } });
  const key = await controller.makeKey(allScopes);
  await controller.enroll();
  const body = { auth_decisions: [{ serial: "SN-100", enforce_state: "accepted" }] };
  await controller.call("POST", "/device/auth_decisions", { ...key, body });
  expect((await controller.enroll({ serial: "SN-100" })).json.state).toBe("accepted");
  expect((await controller.enroll({ serial: "SN-200" })).status).toBe(503);
});

test("one address has a limit of enrolments a minute, which does not delay others", async () => {
  const controller = await testController({
    settings: { limits: { key: 0, address: 0, enrol: 6, login: 0 } },
    serve: { trustedProxies: ["127.0.0.1"] },
  });
  const from = (ip: string) => ({ headers: { "x-forwarded-for": ip, "x-forwarded-proto": "https" } });
  const nonce = (ip: string) => controller.call("GET", "/device/enroll", from(ip));
  for (let turn = 0; turn < 6; turn++) expect((await nonce("192.0.2.1")).status).toBe(200);
  const refused = await nonce("192.0.2.1");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
  expect((await nonce("192.0.2.2")).status).toBe(200);
  expect((await controller.call("GET", "/ok", from("192.0.2.1"))).status).toBe(200);
  controller.setTime(controller.now() + 60_000);
  expect((await nonce("192.0.2.1")).status).toBe(200);
});
