import { beforeAll, describe, expect, test } from "vitest";
import { localCounters, networkOf, RateLimits } from "../../controller/server/limits/rate-limits.ts";
import { databaseKind, type TestController, type TestKey, testController } from "./support.ts";

const limits = { key: 0, address: 0, enrol: 0, login: 0 };
const minute = 60_000;

describe("a key", () => {
  let controller: TestController;
  let key: TestKey;
  beforeAll(async () => {
    controller = await testController({ settings: { limits: { ...limits, key: 5 } } });
    key = await controller.makeKey(["devices:read"]);
  });
  const ask = (headers = key.headers) => controller.call("GET", "/api_keys/me", { headers });

  test("has a limit of requests a minute, which headers announce with Retry-After", async () => {
    controller.setTime(controller.now() + 2 * minute + 15_000);
    for (const left of [4, 3, 2, 1, 0]) {
      const { status, headers } = await ask();
      expect([status, headers.get("ratelimit"), headers.get("ratelimit-policy")]).toEqual([
        200,
        `"minute";r=${left};t=45`,
        '"minute";q=5;w=60',
      ]);
      expect(headers.get("retry-after")).toBeNull();
    }
    const refused = await ask();
    expect([refused.status, refused.json.type]).toEqual([429, "urn:relcat:problem:too-many-requests"]);
    expect(refused.headers.get("retry-after")).toBe("45");
    expect(refused.headers.get("ratelimit")).toBe('"minute";r=0;t=45');
  });

  test("cannot avoid its limit by User-Agent or forwarded addresses", async () => {
    for (const more of [
      { "user-agent": "terraform/1.9" },
      { "x-forwarded-for": "192.0.2.9" },
      { forwarded: "for=192.0.2.9" },
    ]) {
      expect((await ask({ ...key.headers, ...more })).status).toBe(429);
    }
    expect((await controller.call("GET", "/api_keys/me/", key)).status).toBe(429);
  });

  test("does not delay other keys or public operations", async () => {
    const other = await controller.makeKey(["devices:read"]);
    expect((await ask(other.headers)).status).toBe(200);
    expect((await controller.call("GET", "/ok")).status).toBe(200);
  });

  test("has the whole limit again in the next minute", async () => {
    controller.setTime(controller.now() + 44_999);
    expect((await ask()).status).toBe(429);
    controller.setTime(controller.now() + 1);
    for (let turn = 0; turn < 5; turn++) expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(429);
  });
});

describe("an address", () => {
  test("is counted before credentials are checked", async () => {
    const controller = await testController({ settings: { limits: { ...limits, address: 3 } } });
    const statuses: number[] = [];
    for (const path of ["/ok", "/nothing", "/device", "/ok", "/device", "/nothing"])
      statuses.push((await controller.call("GET", path)).status);
    expect(statuses).toEqual([200, 404, 401, 429, 429, 429]);
    controller.setTime(controller.now() + minute);
    expect((await controller.call("GET", "/ok")).status).toBe(200);
  });

  test("is that of a trusted proxy's header, and of no other", async () => {
    const settings = { limits: { ...limits, address: 1 } };
    const direct = await testController({ settings });
    const from = (ip: string) => ({ headers: { "x-forwarded-for": ip, "x-forwarded-proto": "https" } });
    expect((await direct.call("GET", "/ok", from("192.0.2.1"))).status).toBe(200);
    expect((await direct.call("GET", "/ok", from("192.0.2.2"))).status).toBe(429);
    const proxied = await testController({ settings, serve: { trustedProxies: ["127.0.0.1"] } });
    expect((await proxied.call("GET", "/ok", from("192.0.2.1"))).status).toBe(200);
    expect((await proxied.call("GET", "/ok", from("192.0.2.2"))).status).toBe(200);
    // X-Forwarded-For entries from the client itself are ignored.
    expect((await proxied.call("GET", "/ok", from("192.0.2.3, 192.0.2.1"))).status).toBe(429);
  });
});

describe("concurrent requests", () => {
  test("are granted exactly up to the limit", async () => {
    const controller = await testController({ settings: { limits: { ...limits, key: 100 } } });
    const key = await controller.makeKey();
    controller.setTime(controller.now() + minute);
    const answers = await Promise.all(
      Array.from({ length: 150 }, () => controller.call("GET", "/api_keys/me", key)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(50);
  });

  test.runIf(databaseKind === "postgres")("are not granted more by two servers together", async () => {
    const settings = { limits: { ...limits, key: 100 } };
    const first = await testController({ settings });
    const second = await testController({ settings, database: first.database });
    const key = await first.makeKey();
    const later = first.now() + minute;
    for (const server of [first, second]) server.setTime(later);
    const ask = (index: number) => (index % 2 ? first : second).call("GET", "/api_keys/me", key);
    const answers = await Promise.all(Array.from({ length: 300 }, (_, index) => ask(index)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
  });
});

describe("rate counters", () => {
  test("still count a busy client while others are forgotten", async () => {
    const rates = new RateLimits(localCounters());
    let granted = 0;
    for (let index = 0; index < 60_000; index++) {
      await rates.spend(`address ${index}`, 10, 0);
      if (index % 100 === 0 && (await rates.spend("busy", 10, 0)).allowed) granted++;
    }
    expect(granted).toBe(10);
  });
});

describe("the network of an address", () => {
  test.each([
    ["192.0.2.7", "192.0.2.7"],
    ["192.0.2.7:443", "192.0.2.7:443"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:0DB8:0000:0000:ffff:1:2:3", "2001:db8:0:0::/64"],
    ["2001:db8:0:1::1", "2001:db8:0:1::/64"],
    ["1:2:3:4:5:6:7::", "1:2:3:4::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::ffff:192.0.2.7", "::ffff:192.0.2.7"],
    ["1:2:3", "1:2:3"],
    ["unknown", "unknown"],
    ["", ""],
  ])("%j is %j", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  test("shares one limit if it is an IPv6 network", async () => {
    const { call } = await testController({
      settings: { limits: { ...limits, address: 2 } },
      serve: { trustedProxies: ["127.0.0.1"] },
    });
    const ask = async (client: string) => {
      const headers = { "x-forwarded-for": client, "x-forwarded-proto": "https" };
      return (await call("GET", "/ok", { headers })).status;
    };
    expect(await ask("2001:db8:0:1::1")).toBe(200);
    expect(await ask("2001:db8:0:1:ffff::2")).toBe(200);
    expect(await ask("2001:db8:0:1::3")).toBe(429);
    expect(await ask("2001:db8:0:2::1")).toBe(200);
  });
});
