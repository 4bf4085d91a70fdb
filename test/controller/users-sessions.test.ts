import { beforeAll, describe, expect, test } from "vitest";
import {
  basic,
  password,
  start,
  type TestController,
  type TestKey,
  type TestUser,
  testController,
} from "./support.ts";
import { webApp } from "./web.ts";

let controller: TestController;
let user: TestUser;
beforeAll(async () => {
  controller = await testController({ serve: { trustedProxies: ["127.0.0.1"] } });
  user = await controller.makeUser("Owner");
});

const me = (headers: Record<string, string>) => controller.call("GET", "/user/me", { headers });
async function signIn(headers: Record<string, string> = {}) {
  const body = { email: user.email, password };
  const answer = await controller.call("POST", "/user/login", { headers, body });
  const set = answer.headers.get("set-cookie") ?? "";
  return { set, cookie: set.split(";")[0] ?? "" };
}
const proxied = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };

describe("the session cookie", () => {
  test("is for this site only, and hidden from scripts", async () => {
    const { set } = await signIn();
    expect(set).toMatch(/^relcat-session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
  });

  test("is Secure after HTTPS, also through a trusted proxy", async () => {
    const secure = /; HttpOnly; SameSite=Strict; Secure$/;
    expect((await signIn(proxied)).set).toMatch(secure);
    const app = webApp(controller.controller);
    const body = JSON.stringify({ email: user.email, password });
    const headers = { "content-type": "application/json", "content-length": String(body.length) };
    const request = new Request(`https://here/-net/api/v0/user/login`, { method: "POST", headers, body });
    const answer = await app(request, { remote: "203.0.113.7", secure: true });
    expect(answer.headers.get("set-cookie")).toMatch(secure);
  });

  test("expires after exactly twelve hours", async () => {
    const own = await testController();
    const { headers } = await own.makeUser("Owner");
    const ask = async () => (await own.call("GET", "/user/me", { headers })).status;
    own.setTime(start + 12 * 3_600_000 - 1);
    expect(await ask()).toBe(200);
    own.setTime(start + 12 * 3_600_000);
    expect(await ask()).toBe(401);
  });

  test("is useless after signing out, also as a copy", async () => {
    const { cookie } = await signIn();
    const other = await signIn();
    const headers = { cookie };
    expect((await me({ cookie })).status).toBe(200);
    const left = await controller.call("POST", "/user/logout", { headers });
    expect([left.status, left.headers.get("set-cookie")]).toEqual([
      204,
      "relcat-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
    ]);
    expect((await me({ cookie })).status).toBe(401);
    expect((await me({ cookie: other.cookie })).status).toBe(200);
    expect((await controller.call("POST", "/user/logout", { headers })).status).toBe(401);
  });

  test("is new at every login, which ignores a client's own", async () => {
    const [one, two] = [await signIn(), await signIn({ cookie: `relcat-session=${"A".repeat(43)}` })];
    expect(one.cookie).not.toBe(two.cookie);
    expect(two.cookie).not.toContain("AAAA");
    expect((await me({ cookie: `relcat-session=${"A".repeat(43)}` })).status).toBe(401);
  });

  test("is refused if it is repeated or changed", async () => {
    const [{ cookie }, second] = [await signIn(), await signIn()];
    const bad = [
      `${cookie}; ${second.cookie}`,
      `${cookie}; ${cookie}`,
      `${cookie}; relcat-session=`,
      cookie.toUpperCase(),
      `${cookie}A`,
      cookie.slice(0, -1),
      cookie.replace("=", '="').concat('"'),
      cookie.replace("relcat-session", "Relcat-Session"),
      `x${cookie}`,
    ];
    for (const [time, header] of bad.entries()) {
      const headers = { ...proxied, "x-forwarded-for": `203.0.113.${time}`, cookie: header };
      expect([header, (await me(headers)).status]).toEqual([header, 401]);
    }
    expect((await me({ cookie: `theme=dark; ${cookie}; other=1` })).status).toBe(200);
  });
});

describe("a change with a session cookie", () => {
  const own = "the own site";
  const origins = (url: string): Record<string, string | undefined> => ({
    "no header": undefined,
    [own]: url,
    "another site": "https://evil.example",
    "another port": url.replace(/\d+$/, "1"),
    "another name of this machine": url.replace("127.0.0.1", "localhost"),
    "another scheme": url.replace("http:", "https:"),
    "nothing in particular": "null",
    "what only begins like it": `${url}.evil.example`,
    "a path": `${url}/`,
  });
  const sites = [undefined, "same-origin", "none", "same-site", "cross-site", "Same-Origin", ""];
  const matrix = Object.keys(origins("")).flatMap((origin) =>
    sites.map((site) => {
      const isAllowed =
        ["no header", own].includes(origin) && [undefined, "same-origin", "none"].includes(site);
      return { origin, site, isAllowed };
    }),
  );

  let cookie: string;
  let key: TestKey;
  beforeAll(async () => {
    ({ cookie } = await signIn());
    key = await controller.makeKey();
  });

  test.each(matrix)(
    "depends on Origin: $origin, Sec-Fetch-Site: $site",
    async ({ origin: name, site, isAllowed }) => {
      const origin = origins(controller.url)[name];
      const from = {
        ...(origin !== undefined && { origin }),
        ...(site !== undefined && { "sec-fetch-site": site }),
      };
      const signInBody = JSON.stringify({ email: user.email, password });
      const changes = [
        ["POST", "/api_keys", { cookie }, 201],
        ["POST", "/user/me", { cookie }, 200],
        ["POST", "/user/upsert", { cookie }, 400],
        ["POST", "/device/state", { cookie }, 400],
        ["DELETE", `/user/${user.id}`, { cookie }, 409],
        ["POST", "/device/state", key.headers, 400],
        ["POST", "/user/login", { cookie }, 200, signInBody],
        ["POST", "/user/login", {}, 200, signInBody],
        ["POST", "/user/logout", { cookie }, 204],
      ] as const;
      for (const [method, path, credentials, status, body] of changes) {
        const headers = { ...credentials, ...from };
        // Reading is allowed, because a foreign page cannot see the answer.
        const read = await controller.call("GET", "/user/me", { headers: { cookie, ...from } });
        expect(read.status).toBe(200);
        const answer = await controller.call(method, path, { headers, body });
        const expected = isAllowed ? [status, undefined] : [403, "urn:relcat:problem:cross-origin"];
        const type = answer.status === 403 ? answer.json.type : undefined;
        expect([method, path, answer.status, type]).toEqual([method, path, ...expected]);
      }
      if (isAllowed) ({ cookie } = await signIn());
    },
  );

  test("is accepted from this site, also behind a trusted proxy", async () => {
    const { cookie } = await signIn(proxied);
    const https = controller.url.replace("http:", "https:");
    const ask = async (headers: Record<string, string>) =>
      (await controller.call("POST", "/user/me", { headers: { cookie, ...headers }, body: {} })).status;
    expect(await ask({ origin: controller.url })).toBe(200);
    expect(await ask({ ...proxied, origin: https })).toBe(200);
    expect(await ask({ ...proxied, origin: controller.url })).toBe(403);
  });
});

describe("a cookie together with an Authorization header", () => {
  test("is ignored", async () => {
    const { cookie } = await signIn();
    const key = await controller.makeKey(["devices:read"]);
    const both = { cookie, ...key.headers };
    expect((await controller.call("GET", "/device", { headers: both })).status).toBe(200);
    expect((await controller.call("POST", "/api_keys", { headers: both })).status).toBe(403);
    const wrong = { cookie, ...basic(key.id, "rck_00000000-0000-4000-8000-000000000000") };
    expect((await me(wrong)).status).toBe(401);
    expect((await me({ cookie, authorization: "Bearer x" })).status).toBe(401);
  });
});
