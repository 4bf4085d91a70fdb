import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { allScopes, insertDevices, visible } from "./state-support.ts";
import { type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
let id: string;
beforeAll(async () => {
  controller = await testController();
  key = await controller.makeKey(allScopes);
  [id = ""] = await insertDevices(controller, 1);
});

const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  fetch(`${controller.api}/device/state`, {
    method: "POST",
    headers: { "content-type": "application/json", ...key.headers, ...headers },
    body: typeof body === "string" ? body : new Uint8Array(body),
  });
const good = () => `{"devices":[{"id":"${id}","state":"accepted"}]}`;
const nested = (depth: number) => `${'{"devices":['.repeat(depth)}${"]}".repeat(depth)}`;

describe("an ambiguous or malformed JSON body", () => {
  const bodies: [string, () => string | Uint8Array][] = [
    ["nothing but brackets, ten thousand deep", () => "[".repeat(10_000) + "]".repeat(10_000)],
    ["brackets up to the limit of bytes", () => "[".repeat(1024 * 1024)],
    ["objects, ten thousand deep", () => nested(10_000)],
    ["a member twice", () => `{"devices":[],"devices":[{"id":"${id}","state":"accepted"}]}`],
    [
      "a member twice, once escaped",
      () => `{"devices":[],"d\\u0065vices":[{"id":"${id}","state":"accepted"}]}`,
    ],
    ["a member twice further in", () => `{"devices":[{"id":"${id}","state":"pending","state":"accepted"}]}`],
    ["__proto__ around it", () => `{"__proto__":${good()}}`],
    ["a byte order mark", () => `\ufeff${good()}`],
    ["bytes that are no UTF-8", () => Buffer.from(good().replace(id, "\u00ff"), "latin1")],
    ["UTF-16", () => Buffer.from(good(), "utf16le")],
    ["half a character", () => `{"devices":[{"id":"\\ud800","state":"accepted"}]}`],
    ["a NUL", () => `{"devices":[{"id":"\\u0000","state":"accepted"}]}`],
    ["a trailing comma", () => good().replace("]", ",]")],
    ["a comment", () => `${good()}// sincerely`],
    ["two documents", () => good() + good()],
    [
      "a number without end",
      () => `{"devices":[{"id":"${id}","state":"accepted","if_version":${"9".repeat(5000)}}]}`,
    ],
    ["NaN", () => `{"devices":[{"id":"${id}","state":"accepted","if_version":NaN}]}`],
    ["nothing", () => ""],
    ["a space", () => " "],
  ];
  test.each(bodies)("%s: is 400, and changes nothing", async (_, make) => {
    const before = await visible(controller, key);
    const answer = await post(make());
    expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "application/problem+json"]);
    expect(await visible(controller, key)).toEqual(before);
    expect(({} as Record<string, unknown>).dry_run).toBeUndefined();
  });

  test.each([
    ["__proto__", { dry_run: true }],
    ["constructor", { prototype: { dry_run: true } }],
  ])("with an additional %s has no effect, and the header names it", async (name, value) => {
    const answer = await post(`{"${name}":${JSON.stringify(value)},${good().slice(1)}`);
    expect([answer.status, answer.headers.get("x-ignored-fields")]).toEqual([200, name]);
    expect(await answer.json()).toMatchObject({ changed: 1 });
    expect(({} as Record<string, unknown>).dry_run).toBeUndefined();
    expect(await (await post(good().replace("accepted", "pending"))).json()).toMatchObject({ changed: 1 });
  });

  test("with 32 levels is parsed, and then validated", async () => {
    const levels = (depth: number) => `{"devices":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
    expect(await (await post(levels(32))).json()).toMatchObject({ type: "urn:relcat:problem:invalid" });
    expect(await (await post(levels(33))).json()).toMatchObject({ type: "urn:relcat:problem:bad-request" });
  });
});

describe("a body with another media type", () => {
  test.each([
    ["application/x-www-form-urlencoded"],
    ["text/plain"],
    ["text/json"],
    ["application/jsonp"],
    ["multipart/form-data; boundary=x"],
    [""],
  ])("%j is 415", async (type) => {
    expect((await post(good(), { "content-type": type })).status).toBe(415);
  });

  test.each(["gzip", "br", "zstd", "deflate", "identity, gzip"])(
    "compressed as %s is 415",
    async (coding) => {
      const answer = await post(gzipSync(good()), { "content-encoding": coding });
      expect(answer.status).toBe(415);
    },
  );

  test("is not unpacked if it is a compression bomb", async () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024));
    const before = process.memoryUsage.rss();
    expect((await post(bomb, { "content-encoding": "gzip" })).status).toBe(415);
    expect(process.memoryUsage.rss() - before).toBeLessThan(50 * 1024 * 1024);
  });

  test.each(["application/json; charset=utf-8", "Application/JSON"])("%s is accepted", async (type) => {
    expect((await post(good(), { "content-type": type })).status).toBe(200);
  });
});

describe("a text with SQL", () => {
  const texts = [
    "' or '1'='1",
    "1; drop table devices; --",
    "\\'; select pg_sleep(60); --",
    "%27",
    "$1",
    "?",
  ];
  test.each(texts)("%s is stored as text", async (text) => {
    const encoded = encodeURIComponent(text);
    const devices = [{ id: text, state: "accepted" }];
    const asked = [
      await controller.call("GET", `/device?q=${encoded}`, key),
      await controller.call("GET", `/device?serial=${encoded}`, key),
      await controller.call("GET", `/audit_log?target=${encoded}&code=${encoded}`, key),
      await controller.call("POST", "/device/state", { ...key, body: { devices } }),
      await controller.call("GET", `/device?limit=1&cursor=${encoded}`, key),
      await controller.call("GET", `/device?state=${encoded}`, key),
      await controller.call("GET", `/events?after=${encoded}`, key),
    ];
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 404, 400, 400, 400]);
    const renamed = await controller.call("POST", `/device/${id}`, { ...key, body: { name: text } });
    expect(renamed.json.name).toBe(text);
    const { json } = await controller.enroll({ name: text, serial: text.padEnd(9, "x") });
    expect((await controller.call("GET", `/device/${json.id}`, key)).json.name).toBe(text);
  });
});
