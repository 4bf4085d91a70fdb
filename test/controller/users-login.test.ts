/** @module-tag long */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { some } from "../support/effort.ts";
import { basic, caller, password, start, type TestController, testController } from "./support.ts";

let controller: TestController;
beforeEach(async () => {
  controller = await testController({ serve: { trustedProxies: ["127.0.0.1", "10.9.0.0/16"] } });
});

const from = (address: string) => ({ "x-forwarded-for": address, "x-forwarded-proto": "https" });
const login = (body: object, headers: Record<string, string> = {}) =>
  controller.call("POST", "/user/login", { headers, body });
/** Tries logins with a wrong password, and returns the answers. */
async function miss(times: number, email: string, headers: (time: number) => Record<string, string>) {
  const statuses: number[] = [];
  for (let time = 0; time < times; time++)
    statuses.push((await login({ email, password: "wrong password" }, headers(time))).status);
  return statuses;
}
const six = [401, 401, 401, 401, 401, 429];

describe("signing in", () => {
  test("accepts an email address or a user name, in any case", async () => {
    const { email, headers, id } = await controller.makeUser("Owner");
    const change = { username: "Ada Ünlü" };
    expect((await controller.call("POST", "/user/me", { headers, body: change })).status).toBe(200);
    for (const name of [
      { email },
      { email: email.toUpperCase() },
      { email_or_username: email },
      { email_or_username: "ADA ÜNLÜ" },
      { email_or_username: "ada u\u0308nlu\u0308" },
    ]) {
      const { status, json } = await login({ ...name, password });
      expect([name, status, json.user?.id]).toEqual([name, 200, id]);
    }
    for (const wrong of [{}, { email, email_or_username: email }, { email: "" }])
      expect((await login({ ...wrong, password })).status).toBe(400);
    expect((await login({ email: "ada ünlü", password })).status).toBe(401);
  });

  test("has the same answer for an unknown user, a wrong password, a disabled user and a user without a password", async () => {
    const owner = await controller.makeUser("Owner");
    const disabled = await controller.makeUser("User");
    const body = { id: disabled.id, status: "Disabled" };
    await controller.call("POST", "/user/upsert", { headers: owner.headers, body });
    const passwordless = { email: "nobody-yet@example.com" };
    await controller.call("POST", "/user/upsert", { headers: owner.headers, body: passwordless });
    const seen: unknown[] = [];
    for (const attempt of [
      { email: "unknown@example.com", password },
      { email: owner.email, password: "wrong password" },
      { email: disabled.email, password },
      { ...passwordless, password },
    ]) {
      const { status, headers, text } = await login(attempt);
      const fixed = [...headers].filter(([name]) => !["x-request-id", "date"].includes(name));
      seen.push({ status, fixed, text });
    }
    expect(seen[0]).toMatchObject({ status: 401 });
    for (const answer of seen) expect(answer).toEqual(seen[0]);
    const { json } = await controller.call("GET", "/audit_log?code=auth.failed", { headers: owner.headers });
    const reasons = json.audit_log.map((row: { target: unknown; after: unknown }) => [row.target, row.after]);
    expect(reasons.toReversed()).toEqual([
      [null, { reason: "unknown" }],
      [{ kind: "user", id: owner.id }, { reason: "wrong" }],
      [{ kind: "user", id: disabled.id }, { reason: "disabled" }],
      [{ kind: "user", id: expect.any(String) }, { reason: "wrong" }],
    ]);
  });

  test("with a new password, other sessions end", async () => {
    const user = await controller.makeUser("Owner");
    const { call } = controller;
    const other = await login({ email: user.email, password });
    const cookie = other.headers.get("set-cookie")?.split(";")[0] ?? "";
    const next = "a password that is new";
    const change = (body: object) => call("POST", "/user/me", { headers: user.headers, body });
    expect((await change({ password: next })).status).toBe(401);
    expect((await change({ password: next, current_password: "wrong password" })).status).toBe(401);
    expect((await call("GET", "/user/me", { headers: { cookie } })).status).toBe(200);
    expect((await change({ password: next, current_password: password })).status).toBe(200);
    expect((await call("GET", "/user/me", { headers: { cookie } })).status).toBe(401);
    expect((await call("GET", "/user/me", { headers: user.headers })).status).toBe(200);
    expect((await login({ email: user.email, password })).status).toBe(401);
    expect((await login({ email: user.email, password: next })).status).toBe(200);
  });
});

describe("after five wrong passwords", () => {
  test("only the same name from the same address waits", async () => {
    const [ada, grace] = [await controller.makeUser("Owner"), await controller.makeUser("User")];
    const here = from("203.0.113.7");
    expect(await miss(6, ada.email, () => here)).toEqual(six);
    const waiting = await login({ email: ada.email, password }, here);
    expect(waiting.status).toBe(429);
    expect(Number(waiting.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await login({ email: grace.email, password }, here)).status).toBe(200);
    expect((await login({ email: ada.email, password }, from("203.0.113.8"))).status).toBe(200);
    expect((await login({ email: ada.email, password })).status).toBe(200);
    expect((await controller.call("GET", "/user/me", { headers: ada.headers })).status).toBe(200);
    controller.setTime(start + Number(waiting.headers.get("retry-after")) * 1000);
    expect((await login({ email: ada.email, password }, here)).status).toBe(200);
  });

  test("concurrent attempts count like sequential ones", async () => {
    const { email } = await controller.makeUser("Owner");
    const statuses = await Promise.all(Array.from({ length: 25 }, () => miss(1, email, () => ({}))));
    const counted = statuses.flat().toSorted();
    expect(counted).toEqual([...Array(5).fill(401), ...Array(20).fill(429)]);
  });

  test("an address that tries many names waits too", { tags: ["long"] }, async () => {
    const user = await controller.makeUser("Owner");
    const here = from("203.0.113.9");
    const statuses: number[] = [];
    for (let name = 0; name < 51; name++)
      statuses.push(...(await miss(1, `someone-${name}@example.com`, () => here)));
    expect(statuses).toEqual([...Array(50).fill(401), 429]);
    expect((await login({ email: user.email, password }, from("203.0.113.10"))).status).toBe(200);
  });

  test("an Owner can sign in from another address during an attack", async () => {
    const { email } = await controller.makeUser("Owner");
    expect(await miss(60, email, (time) => from(`198.51.100.${time}`))).toEqual(Array(60).fill(401));
    expect((await login({ email, password }, from("203.0.113.1"))).status).toBe(200);
  });

  test("successful attempts do not count", async () => {
    const { email } = await controller.makeUser("Owner");
    for (let time = 0; time < 12; time++) expect((await login({ email, password })).status).toBe(200);
    expect(await miss(4, email, () => ({}))).toEqual([401, 401, 401, 401]);
    expect((await login({ email, password })).status).toBe(200);
  });

  test("another letter case of the name is the same name", async () => {
    const { email } = await controller.makeUser("Owner");
    await miss(5, email, () => ({}));
    expect((await login({ email: email.toUpperCase(), password })).status).toBe(429);
  });

  test("another User-Agent waits too", async () => {
    const { email } = await controller.makeUser("Owner");
    expect(await miss(6, email, (time) => ({ "user-agent": `terraform/${time}` }))).toEqual(six);
  });

  test("a key from the same address waits, except with the right secret", async () => {
    const key = await controller.makeKey();
    const guess = basic(key.id, "rck_00000000-0000-4000-8000-000000000000");
    const ask = async (credentials: Record<string, string>) =>
      (await controller.call("GET", "/device", { headers: { ...from("203.0.113.7"), ...credentials } }))
        .status;
    const statuses: number[] = [];
    for (let time = 0; time < 6; time++) statuses.push(await ask(guess));
    expect(statuses).toEqual(six);
    expect(await ask(key.headers)).toBe(200);
  });
});

describe("the address of a client", () => {
  let plain: TestController;
  beforeAll(async () => {
    plain = await testController();
  });

  test.each(some(["x-forwarded-for", "x-real-ip", "forwarded", "client-ip", "true-client-ip"], 3))(
    "does not depend on %s without a trusted proxy",
    async (name) => {
      const { email } = await plain.makeUser("Owner");
      const statuses: number[] = [];
      for (let time = 0; time < 6; time++) {
        const body = { email, password: "wrong password" };
        const headers = { [name]: `203.0.113.${time}` };
        statuses.push((await plain.call("POST", "/user/login", { headers, body })).status);
      }
      expect(statuses).toEqual(six);
    },
  );

  test("is read from X-Forwarded-For only behind trusted proxies", async () => {
    const { email } = await controller.makeUser("Owner");
    const spoofed = (time: number) => from(`198.51.100.${time}, 203.0.113.7, 10.9.0.1`);
    expect(await miss(6, email, spoofed)).toEqual(six);
    expect((await login({ email, password }, from("203.0.113.8, 10.9.0.1"))).status).toBe(200);
  });

  test("is known to use HTTPS only through a trusted proxy, which must say so", async () => {
    const ask = caller(controller.api);
    const http = await ask("GET", "/ok", { headers: { "x-forwarded-for": "203.0.113.7" } });
    expect([http.status, http.json.type]).toEqual([403, "urn:relcat:problem:https-required"]);
    expect((await ask("GET", "/ok", { headers: from("203.0.113.7") })).status).toBe(200);
    const posed = await plain.call("GET", "/ok", { headers: { "x-forwarded-for": "203.0.113.7" } });
    expect(posed.status).toBe(200);
  });
});
