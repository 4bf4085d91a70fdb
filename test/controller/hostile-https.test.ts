import { readFileSync } from "node:fs";
import { request as ask } from "node:https";
import { describe, expect, test } from "vitest";
import { selfSigned } from "../support/certify.ts";
import { temporaryFolder } from "../support/run.ts";
import { raw, request } from "./hostile-support.ts";
import { testController } from "./support.ts";

const proxied = (ip: string, proto?: string) => ({
  headers: { "x-forwarded-for": ip, ...(proto !== undefined && { "x-forwarded-proto": proto }) },
});

describe("HTTPS is required", () => {
  test("for every client on another host, before credentials are checked", async () => {
    const controller = await testController({ serve: { trustedProxies: ["127.0.0.1"] } });
    for (const proto of [undefined, "http", "HTTPS", "https, http", ""]) {
      const { status, json, headers } = await controller.call("GET", "/ok", proxied("192.0.2.1", proto));
      expect([proto, status, json.type]).toEqual([proto, 403, "urn:relcat:problem:https-required"]);
      expect(headers.get("ratelimit")).toBeNull();
    }
    const { status, headers } = await controller.call("GET", "/ok", proxied("192.0.2.1", "https"));
    expect([status, headers.get("strict-transport-security")]).toEqual([200, "max-age=31536000"]);
  });

  test("for no client on this host, and headers of an unnamed proxy are ignored", async () => {
    const controller = await testController();
    for (const proto of [undefined, "http", "https"]) {
      const { status, headers } = await controller.call("GET", "/ok", proxied("192.0.2.1", proto));
      expect([status, headers.get("strict-transport-security")]).toEqual([200, null]);
    }
  });

  test("for a client that claims to be this host", async () => {
    const controller = await testController({ serve: { trustedProxies: ["127.0.0.1"] } });
    for (const hops of ["127.0.0.2, 192.0.2.1", "::1, 192.0.2.1", "127.evil.example", "garbage, 192.0.2.1"])
      expect([hops, (await controller.call("GET", "/ok", proxied(hops))).status]).toEqual([hops, 403]);
  });

  test("for clients behind a proxy too, and audit rows have the client's address", async () => {
    const controller = await testController({ serve: { trustedProxies: ["127.0.0.0/8"] } });
    const key = await controller.makeKey(["audit:read"]);
    const body = { email: "nobody@example.com", password: "wrong" };
    await controller.call("POST", "/user/login", { ...proxied("2001:db8::7, 127.0.0.9", "https"), body });
    const { json } = await controller.call("GET", "/audit_log?limit=1", key);
    expect(json.audit_log[0]).toMatchObject({ code: "auth.failed", actor: { ip: "2001:db8::7" } });
  });
});

describe("with a certificate", () => {
  async function certificate() {
    const own = await selfSigned(temporaryFolder(), "localhost", "IP:127.0.0.1");
    return { cert: readFileSync(own.certificate), key: readFileSync(own.key) };
  }

  test("the controller speaks HTTPS only", async () => {
    const own = await certificate();
    // The test's other callers use fetch, which does not know this authority.
    const { url } = await testController({ serve: { certificate: own } });
    expect(url).toMatch(/^https:/);
    const answered = await new Promise<string>((resolve, reject) => {
      ask(`${url}/-net/api/v0/ok`, { ca: own.cert }, (response) => {
        response.setEncoding("utf8").once("data", resolve);
      })
        .on("error", reject)
        .end();
    });
    expect(JSON.parse(answered)).toEqual({ status: "ok" });
    const lines = ["GET /-net/api/v0/ok HTTP/1.1", "Host: x", "Connection: close"];
    expect((await raw(url, request(lines))).statuses).toEqual([200]);
    expect((await raw(url.replace("https:", "http:"), request(lines))).statuses).not.toContain(200);
  });
});
