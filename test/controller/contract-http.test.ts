import { beforeAll, describe, expect, test } from "vitest";
import { readRaw, sendRaw } from "./access-connections.ts";
import {
  basic,
  caller,
  type TestController,
  type TestKey,
  type TestUser,
  testController,
} from "./support.ts";

let controller: TestController;
let key: TestKey;
let owner: TestUser;
let token: Record<string, string>;
let device: string;
beforeAll(async () => {
  controller = await testController();
  key = await controller.makeKey(["devices:read", "devices:state", "devices:write"]);
  owner = await controller.makeUser("Owner");
  const { json } = await controller.call("POST", "/user/tokens", { headers: owner.headers });
  token = basic(json.id, json.key);
  device = (await controller.enroll({ name: "one", serial: "SN-4711" })).id;
});

const raw = async (target: string, headers: Record<string, string> = {}, method = "GET") => {
  const lines = Object.entries({ host: "127.0.0.1", connection: "close", ...headers });
  const head = [`${method} ${target} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  return readRaw(await sendRaw(controller.url, `${head.join("\r\n")}\r\n\r\n`));
};

describe("addresses below /latest", () => {
  const paths = [
    "/ok",
    "/device",
    "/device?limit=1",
    "/device/auth_decisions",
    "/api_keys/me",
    "/openapi.json",
  ];
  const latest = ["/latest", "/-net/api/latest"];

  test.each(paths)("answer %s as v0 does, and have a Content-Location", async (path) => {
    const v0 = await controller.call("GET", path, { headers: key.headers });
    expect([v0.status, v0.headers.get("content-location"), v0.headers.get("api-version")]).toEqual([
      200,
      null,
      "v0",
    ]);
    for (const prefix of latest) {
      const answer = await caller(controller.url + prefix)("GET", path, { headers: key.headers });
      expect([answer.status, answer.text]).toEqual([200, v0.text]);
      expect(answer.headers.get("content-location")).toBe(`/-net/api/v0${path.split("?")[0]}`);
      expect(answer.headers.get("api-version")).toBe("v0");
    }
  });

  test("name the requested address in Content-Location, with any id", async () => {
    const { status, head } = await raw("/latest/device/%E2%82%AC%20%22%3f%23%25", key.headers);
    expect(status).toBe(404);
    expect(head.toLowerCase()).toContain("content-location: /-net/api/v0/device/%e2%82%ac%20%22%3f%23%25");
  });

  test("answer the same with and without the final slash, and never redirect", async () => {
    for (const prefix of ["/-net/api/v0", ...latest]) {
      const [bare, slash] = await Promise.all([
        raw(`${prefix}/device/${device}`, key.headers),
        raw(`${prefix}/device/${device}/`, key.headers),
      ]);
      expect([bare.status, slash.status, slash.body]).toEqual([200, 200, bare.body]);
    }
  });
});

describe("an address that resembles another", () => {
  const strange = [
    "/-net/api/V0/device",
    "/-net/API/v0/device",
    "/-NET/api/v0/device",
    "/-net/api/v00/device",
    "/-net/api/v1/device",
    "/-net/api/v0device",
    "/-net/api/latestdevice",
    "/Latest/device",
    "/LATEST/device",
    "/latestdevice",
    "//latest/device",
    "/latest//device",
    "/-net//api/v0/device",
    "/-net/api/v0//device",
    "/-net/api/v0/../latest/device",
    "/-net/api/v0/%2e%2e/latest/device",
    "/-net/api/v0/.%2E/latest/device",
    "/latest/../-net/api/v0/device",
    "/latest/..%2f-net/api/v0/device",
    "/latest/%2e%2e/-net/api/v0/device",
    "/latest/./device",
    "/latest/%2e/device",
    "/latest/device/..",
    "/latest/x/../device",
    "/-net%2Fapi/v0/device",
    "/-net/api%2fv0/device",
    "/-net%5capi/v0/device",
    "/-net\\api\\v0\\device",
    "/latest\\device",
    "/-net/api/v0/device%00",
    "/-net/api/v0/device%0a",
    "/-net/api/v0/device%0d%0aX-Evil:%201",
    "/-net/api/v0/%64evice%2f",
    "/-net/api/v0/devic%",
    "/-net/api/v0/devic%c3",
    "/-net/api/v0/devic%ed%a0%80",
    "/-net/api/v0/device;x=1",
    "/-net/api/v0/device/state/..",
    "http://127.0.0.1/-net/api/v0/device",
    "/latest/%252e%252e/device",
    "/device",
    "/v0/device",
    "/api/v0/device",
    "/-net/api/device",
  ];

  test.each(strange)("never returns the list of devices: %s", async (target) => {
    for (const headers of [{}, key.headers, token]) {
      const { status, body } = await raw(target, headers);
      expect([target, [400, 404].includes(status)]).toEqual([target, true]);
      expect(body).not.toContain("SN-4711");
    }
  });

  test("is equal to it if only letters are percent-encoded", async () => {
    expect((await raw("/-net/api/v0/%64evice", key.headers)).status).toBe(200);
    expect((await raw("/%6catest/device", token)).status).toBe(200);
    // An encoded v0 is still v0, which does not accept tokens.
    expect((await raw("/-net/api/%760/device", token)).status).toBe(403);
  });

  test("is decoded once: a second encoding is part of the id", async () => {
    for (const id of ["%2500", "%252e%252e", "%25e2%2582", "%252F"])
      expect((await raw(`/-net/api/v0/device/${id}`, key.headers)).status).toBe(404);
  });
});

describe("every answer", () => {
  const asked: [string, () => Promise<Response>][] = [
    ["success", () => get("/-net/api/v0/device")],
    ["a page of a list", () => get("/-net/api/v0/device?limit=1")],
    ["health", () => get("/-net/api/v0/ok", {})],
    ["the description", () => get("/-net/api/v0/openapi.json")],
    ["a device", () => get(`/-net/api/v0/device/${device}`)],
    ["OPTIONS", () => get("/-net/api/v0/device", {}, "OPTIONS")],
    ["HEAD", () => get("/-net/api/v0/device", key.headers, "HEAD")],
    ["400", () => get("/-net/api/v0/device?no=1")],
    ["401", () => get("/-net/api/v0/device", {})],
    ["403", () => get("/-net/api/v0/users")],
    ["404", () => get("/-net/api/v0/device/none")],
    ["404 for an address", () => get("/-net/api/v0/none")],
    ["405", () => get("/-net/api/v0/device", key.headers, "PUT")],
    ["409", () => get(`/-net/api/v0/device/${device}`, key.headers, "DELETE")],
    ["a refused address", () => get("/-net/api/v0//device")],
    ["a login's refusal", () => get("/-net/api/v0/user/login", {}, "POST")],
  ];
  const get = (path: string, headers: Record<string, string> = key.headers, method = "GET") =>
    fetch(controller.url + path, { method, headers });

  test.each(asked)(
    "(%s) has headers against caching, sniffing, framing and referrers",
    async (_name, ask) => {
      const { headers } = await ask();
      expect(Object.fromEntries(headers)).toMatchObject({
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "content-security-policy": expect.stringContaining("default-src 'none'"),
        "cross-origin-resource-policy": "same-origin",
        "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      for (const [name] of headers) expect(name).not.toMatch(/^(access-control-|server$|x-powered-by)/);
    },
  );

  test("sets Strict-Transport-Security unless the client is on this host", async () => {
    const behind = await testController({ serve: { trustedProxies: ["127.0.0.1"] } });
    const headers = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };
    const { headers: answered } = await behind.call("GET", "/ok", { headers });
    expect(answered.get("strict-transport-security")).toBe("max-age=31536000");
    expect((await get("/latest/ok")).headers.get("strict-transport-security")).toBeNull();
  });

  test("repeats a valid request id of the client, and no other bytes of it", async () => {
    const idFor = async (given: string) =>
      (await get("/latest/ok", { "x-request-id": given })).headers.get("x-request-id");
    expect(await idFor("job-42.7_a")).toBe("job-42.7_a");
    for (const odd of ["", "a b", "a".repeat(65), "a;b", "<script>", "ä"])
      expect(await idFor(odd)).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("does not repeat the Host header", async () => {
    const { enroll } = controller;
    await enroll({ name: "two" });
    const { status, head, body } = await raw("/-net/api/v0/device?limit=1", {
      ...key.headers,
      host: "evil.example",
    });
    expect([status, head.includes("Link: ") || head.includes("link: ")]).toEqual([200, true]);
    expect(head + body).not.toContain("evil.example");
  });
});

describe("a page of another site", () => {
  test.each(["/device/state", "/api_keys", "/user/login", "/user/me"])(
    "gets no CORS permission for %s",
    async (path) => {
      const { status, headers } = await controller.call("OPTIONS", path, {
        headers: {
          origin: "https://evil.example",
          "access-control-request-method": "POST",
          "access-control-request-headers": "authorization, content-type",
        },
      });
      expect(status).toBe(200);
      expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
    },
  );

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])(
    "cannot send a body as %s",
    async (type) => {
      const headers = { ...key.headers, "content-type": type };
      const body = JSON.stringify({ devices: [{ id: device, state: "accepted" }] });
      expect((await controller.call("POST", "/device/state", { headers, body })).status).toBe(415);
    },
  );
});
