import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
let device: string;
beforeAll(async () => {
  controller = await testController();
  key = await controller.makeKey();
  device = (await controller.enroll({ name: "one" })).id;
});

describe("a request body", () => {
  const post = async (body: string, headers: Record<string, string> = {}) =>
    (await controller.call("POST", "/device/state", { headers: { ...key.headers, ...headers }, body }))
      .status;
  const item = () => `{"id":"${device}","state":"pending"}`;

  test("is applied exactly or refused", async () => {
    const nested = (depth: number) => `{"devices":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    const cases: [string, number][] = [
      [`{"devices":[${item()}]}`, 200],
      [` {"devices" : [${item()}] }\n`, 200],
      [`{"__proto__":{"dry_run":true},"devices":[${item()}]}`, 200],
      [`{"constructor":{"prototype":{"state":"rejected"}},"devices":[${item()}]}`, 200],
      [`{"devices":[{"id":"${device}","__proto__":{"state":"rejected"}}]}`, 400],
      [`{"devices":[${item()}],"devices":[]}`, 400],
      [`{"devices":[{"id":"${device}","state":"pending","state":"rejected"}]}`, 400],
      [`{"devices":[{"id":"${device}","state":"pending","st\\u0061te":"rejected"}]}`, 400],
      [`{"devices":[${item()}]} {}`, 400],
      [`\ufeff{"devices":[${item()}]}`, 400],
      [`{"devices":[${item()},]}`, 400],
      [`{"devices":[${item()}], "n": NaN}`, 400],
      [nested(31), 400],
      [nested(10_000), 400],
      ["[".repeat(10_000), 400],
      ['{"a":'.repeat(10_000), 400],
      ["", 400],
      ["null", 400],
      ["[]", 400],
      ['"devices"', 400],
      ["{", 400],
      [`{"devices":[{"id":"${device}","state":"PENDING"}]}`, 400],
      [`{"devices":[{"id":"${device}","state":["pending"]}]}`, 400],
      [`{"devices":{"0":${item()}}}`, 400],
      [`{"devices":[{"id":"${device}\\u0000","state":"pending"}]}`, 400],
      [`{"devices":[{"id":"${device}","state":"pending","reason":"\\ud800"}]}`, 400],
      [`{"devices":[{"id":"${device}","state":"pending","if_version":1e400}]}`, 400],
    ];
    for (const [body, status] of cases)
      expect([body.slice(0, 100), await post(body)]).toEqual([body.slice(0, 100), status]);
    const { json } = await controller.call("GET", `/device/${device}`, { headers: key.headers });
    expect([json.state, json.version]).toEqual(["pending", 1]);
    expect(Object.prototype).not.toHaveProperty("dry_run");
  });

  test("is accepted only as uncompressed JSON in UTF-8", async () => {
    const body = `{"devices":[${item()}]}`;
    const types: [string, number][] = [
      ["application/json", 200],
      ["Application/JSON; charset=utf-8", 200],
      ["application/json;charset=UTF-8", 200],
      ["application/jsonp", 415],
      ["application/problem+json", 415],
      ["text/json", 415],
      ["*/*", 415],
      ["application/json, text/plain", 415],
    ];
    for (const [type, status] of types)
      expect([type, await post(body, { "content-type": type })]).toEqual([type, status]);
    for (const coding of ["gzip", "br", "deflate", "zstd", "gzip, gzip"])
      expect([coding, await post(body, { "content-encoding": coding })]).toEqual([coding, 415]);
    const send = async (bytes: Uint8Array<ArrayBuffer>) => {
      const headers = { ...key.headers, "content-type": "application/json" };
      return (await fetch(`${controller.api}/device/state`, { method: "POST", headers, body: bytes })).status;
    };
    expect(await send(new Uint8Array(gzipSync(body)))).toBe(400);
    expect(await send(new Uint8Array(Buffer.from(body, "utf16le")))).toBe(400);
    expect(await send(new Uint8Array([0x7b, 0xff, 0x7d]))).toBe(400);
  });
});

describe("a refusal", () => {
  const detailsOf = async (method: string, path: string, body?: unknown) => {
    const { json } = await controller.call(method, path, { headers: key.headers, body });
    return json.errors.map(
      (error: { pointer: string; detail: string }) => `${error.pointer}: ${error.detail}`,
    );
  };

  test.each<[object | null, string]>([
    [null, ": Expected an object."],
    [{}, "/devices: Is missing."],
    [{ devices: {} }, "/devices: Expected a list."],
    [{ devices: [] }, "/devices: Expected at least 1 item."],
    [{ devices: [{ id: "", state: "pending" }] }, "/devices/0/id: Expected at least 1 character."],
    [
      { devices: [{ id: "a".repeat(65), state: "pending" }] },
      "/devices/0/id: Expected at most 64 characters.",
    ],
    [
      { devices: [{ id: "a", state: "new" }] },
      "/devices/0/state: Expected one of pending, accepted, rejected.",
    ],
    [
      { devices: [{ id: "a", state: "pending", if_version: -1 }] },
      "/devices/0/if_version: Expected at least 0.",
    ],
    [
      { devices: [{ id: "a", state: "pending", if_version: 0.5 }] },
      "/devices/0/if_version: Expected a whole number.",
    ],
    [
      { devices: [{ id: "a", state: "pending", reason: "\n" }] },
      "/devices/0/reason: Has control characters.",
    ],
    [{ devices: [{ id: "a", state: "pending" }], dry_run: 1 }, "/dry_run: Expected true or false."],
  ])("says in words what the body %j lacks", async (body, expected) => {
    expect(await detailsOf("POST", "/device/state", body)).toEqual([expected]);
  });

  test.each([
    ["/device?limit=0", "limit: Expected a number from 1 to 1000."],
    ["/device?sort=size", "sort: Expected one of created, name."],
    ["/events?after=x", "after: Expected a number of at most 15 digits."],
  ])("says in words what %s lacks", async (path, expected) => {
    expect(await detailsOf("GET", path)).toEqual([expected]);
  });
});
