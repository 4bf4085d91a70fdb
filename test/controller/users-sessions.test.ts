import { beforeAll, describe, expect, test } from "vitest";
import { basic, password, start, type TestController, type TestUser, testController } from "./support.ts";
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

describe("the cookie", () => {
  test("is for this site alone, and no script sees it", async () => {
    const { set } = await signIn();
    expect(set).toMatch(/^relcat-session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
  });

  test("goes over HTTPS alone where that was spoken, also to a trusted proxy", async () => {
    const secure = /; HttpOnly; SameSite=Strict; Secure$/;
    expect((await signIn(proxied)).set).toMatch(secure);
    const app = webApp(controller.controller);
    const body = JSON.stringify({ email: user.email, password });
    const headers = { "content-type": "application/json", "content-length": String(body.length) };
    const request = new Request(`https://here/-net/api/v0/user/login`, { method: "POST", headers, body });
    const answer = await app(request, { remote: "203.0.113.7", secure: true });
    expect(answer.headers.get("set-cookie")).toMatch(secure);
  });

  test("lasts twelve hours, to the moment", async () => {
    const own = await testController();
    const { headers } = await own.makeUser("Owner");
    const ask = async () => (await own.call("GET", "/user/me", { headers })).status;
    own.setTime(start + 12 * 3_600_000 - 1);
    expect(await ask()).toBe(200);
    own.setTime(start + 12 * 3_600_000);
    expect(await ask()).toBe(401);
  });

  test("is of no use after signing out, wherever it was copied to", async () => {
    const { cookie } = await signIn();
    const other = await signIn();
    const headers = { cookie, origin: controller.url };
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

  test("is new with every login, and none that a client brings is kept", async () => {
    const [one, two] = [await signIn(), await signIn({ cookie: `relcat-session=${"A".repeat(43)}` })];
    expect(one.cookie).not.toBe(two.cookie);
    expect(two.cookie).not.toContain("AAAA");
    expect((await me({ cookie: `relcat-session=${"A".repeat(43)}` })).status).toBe(401);
  });

  test("stands once, and as it was given", async () => {
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

describe("a change with a cookie", () => {
  const origins = (url: string): Record<string, string | undefined> => ({
    "another site": "https://evil.example",
    "another port": url.replace(/\d+$/, "1"),
    "another name of this machine": url.replace("127.0.0.1", "localhost"),
    "another scheme": url.replace("http:", "https:"),
    "nothing in particular": "null",
    "what only begins like it": `${url}.evil.example`,
    "a path": `${url}/`,
    "no header": undefined,
  });

  test.each(Object.keys(origins("")))("is refused from %s", async (name) => {
    const origin = origins(controller.url)[name];
    const { cookie } = await signIn();
    for (const [method, path] of [
      ["POST", "/api_keys"],
      ["POST", "/user/me"],
      ["DELETE", `/user/${user.id}`],
      ["POST", "/user/logout"],
    ] as const) {
      const headers = { cookie, ...(origin !== undefined && { origin }) };
      const { status, json } = await controller.call(method, path, { headers });
      expect([path, status, json.type]).toEqual([path, 403, "urn:relcat:problem:cross-origin"]);
    }
    expect((await me({ cookie, ...(origin !== undefined && { origin }) })).status).toBe(200);
  });

  test("is taken from this site, and from what a trusted proxy makes of it", async () => {
    const { cookie } = await signIn(proxied);
    const https = controller.url.replace("http:", "https:");
    const ask = async (headers: Record<string, string>) =>
      (await controller.call("POST", "/user/me", { headers: { cookie, ...headers }, body: {} })).status;
    expect(await ask({ origin: controller.url })).toBe(200);
    expect(await ask({ ...proxied, origin: https })).toBe(200);
    expect(await ask({ ...proxied, origin: controller.url })).toBe(403);
  });
});

describe("a cookie and an Authorization header", () => {
  test("are not added up: the header counts", async () => {
    const { cookie } = await signIn();
    const key = await controller.makeKey(["devices:read"]);
    const both = { cookie, origin: controller.url, ...key.headers };
    expect((await controller.call("GET", "/device", { headers: both })).status).toBe(200);
    expect((await controller.call("POST", "/api_keys", { headers: both })).status).toBe(403);
    const wrong = { cookie, ...basic(key.id, "rck_00000000-0000-4000-8000-000000000000") };
    expect((await me(wrong)).status).toBe(401);
    expect((await me({ cookie, authorization: "Bearer x" })).status).toBe(401);
  });

  test("a browser that kept a key's credentials sends no changes from elsewhere", async () => {
    const { headers } = await controller.makeKey();
    const post = (origin: Record<string, string>) =>
      controller.call("POST", "/api_keys/me/rotate", { headers: { ...headers, ...origin } });
    const { status, json } = await post({ origin: "https://evil.example" });
    expect([status, json.type]).toEqual([403, "urn:relcat:problem:cross-origin"]);
    expect((await post({ origin: "null" })).status).toBe(403);
    expect((await post({ origin: controller.url })).status).toBe(200);
    expect((await post({})).status).toBe(200);
  });
});
