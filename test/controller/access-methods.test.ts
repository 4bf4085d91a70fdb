import { beforeAll, describe, expect, test } from "vitest";
import { controllerRoutes } from "../../controller/server/routes.ts";
import { caller, type TestController, type TestKey, testController } from "./support.ts";

/** Every address with its methods. */
const allowed: Record<string, string> = {
  "/ok": "GET, HEAD, OPTIONS",
  "/device": "GET, HEAD, OPTIONS",
  "/device/state": "POST, OPTIONS",
  "/device/assign": "POST, OPTIONS",
  "/device/auth_decisions": "GET, POST, HEAD, OPTIONS",
  "/device/enroll": "GET, POST, HEAD, OPTIONS",
  "/device/:id": "GET, POST, DELETE, HEAD, OPTIONS",
  "/api_keys": "GET, POST, HEAD, OPTIONS",
  "/api_keys/me": "GET, HEAD, OPTIONS",
  "/api_keys/me/rotate": "POST, OPTIONS",
  "/api_keys/:id": "POST, DELETE, OPTIONS",
  "/api_keys/:id/rotate": "POST, OPTIONS",
  "/user/login": "POST, OPTIONS",
  "/user/logout": "POST, OPTIONS",
  "/user/me": "GET, POST, HEAD, OPTIONS",
  "/user/tokens": "GET, POST, HEAD, OPTIONS",
  "/user/tokens/:id": "DELETE, OPTIONS",
  "/user/upsert": "POST, OPTIONS",
  "/user/:id": "GET, DELETE, HEAD, OPTIONS",
  "/users": "GET, HEAD, OPTIONS",
  "/audit_log": "GET, HEAD, OPTIONS",
  "/events": "GET, HEAD, OPTIONS",
  "/openapi.json": "GET, HEAD, OPTIONS",
  "/docs": "GET, HEAD, OPTIONS",
};
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "QUERY", "PURGE", "LINK"];
const addresses = Object.entries(allowed).flatMap(([path, allow]) => {
  const address = path.replace(":id", "00000000-0000-4000-8000-000000000000");
  return [
    { address, allow },
    { address: `${address}/`, allow },
  ];
});

let controller: TestController;
let key: TestKey;
beforeAll(async () => {
  controller = await testController();
  key = await controller.makeKey();
});

test("the table of methods has every route", () => {
  expect(Object.keys(allowed)).toEqual(controllerRoutes.map(({ path }) => path.replace(/\/$/, "")));
});

describe.each(addresses)("$address", ({ address, allow }) => {
  test("OPTIONS lists the methods for every caller", async () => {
    const { status, headers, json } = await controller.call("OPTIONS", address);
    expect([status, headers.get("allow")]).toEqual([200, allow]);
    expect(json).toEqual({
      name: expect.any(String),
      description: expect.any(String),
      renders: ["application/json"],
      parses: ["application/json"],
    });
  });

  test("other methods are refused with 405", async () => {
    const real = allow.split(", ");
    for (const method of methods) {
      const { status, headers, json } = await controller.call(method, address);
      if (real.includes(method)) expect([method, status]).not.toEqual([method, 405]);
      else {
        expect([method, status, headers.get("allow")]).toEqual([method, 405, allow]);
        if (method !== "HEAD") expect(json.type).toBe("urn:relcat:problem:method-not-allowed");
      }
    }
  });
});

describe("HEAD", () => {
  test.each(["/ok", "/device", "/device?limit=5", "/api_keys/me", "/openapi.json"])(
    "%s has the headers of GET, without the body",
    async (path) => {
      const { headers } = key;
      const get = await controller.call("GET", path, { headers });
      const head = await controller.call("HEAD", path, { headers });
      expect([head.status, head.text, head.headers.get("content-type")]).toEqual([
        200,
        "",
        get.headers.get("content-type"),
      ]);
    },
  );

  test("/events holds no stream open", async () => {
    for (let asked = 0; asked < 25; asked++) {
      const { status } = await controller.call("HEAD", "/events", { headers: key.headers });
      expect(status).toBe(200);
    }
  });
});

test("an unknown address is 404 for every method", async () => {
  const call = caller(controller.url);
  for (const method of ["GET", "POST", "OPTIONS", "DELETE"])
    expect((await call(method, "/-net/api/v0/nothing")).status).toBe(404);
});
