/** @module-tag long */
import { beforeAll, describe, expect, test } from "vitest";
import { pour, raw, request, talk } from "./hostile-support.ts";
import { type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
beforeAll(async () => {
  controller = await testController();
  key = await controller.makeKey();
});

const mebibyte = 1024 * 1024;
const target = "POST /-net/api/v0/device/state HTTP/1.1";
const base = [target, "Host: x", "Content-Type: application/json"];
const withKey = ({ headers } = key) => [...base, `Authorization: ${headers.authorization}`];

describe("a large body", () => {
  test("without credentials is refused before it is read, and the connection closes", async () => {
    const head = request([...base, `Content-Length: ${64 * mebibyte}`]);
    const { statuses, sent } = await talk(controller.url, (socket) => pour(socket, head, 1024));
    expect(statuses).toEqual([401]);
    expect(sent).toBeLessThan(16 * mebibyte);
  });

  test("with its length is not read at all", async () => {
    const head = request([...withKey(), `Content-Length: ${64 * mebibyte}`]);
    const { statuses, sent } = await talk(controller.url, (socket) => pour(socket, head, 1024));
    expect(statuses).toEqual([413]);
    expect(sent).toBeLessThan(16 * mebibyte);
  });

  test("without a length is read up to the limit", async () => {
    const head = request([...withKey(), "Transfer-Encoding: chunked"]);
    const { statuses, sent } = await talk(controller.url, async (socket) => {
      socket.write(head);
      const piece = Buffer.from(`10000\r\n${" ".repeat(0x10000)}\r\n`);
      await pour(
        {
          write: (data) => socket.write(data.length === 65_536 ? piece : ""),
          once: socket.once.bind(socket),
        },
        " ",
        1024,
      );
    });
    expect(statuses).toEqual([413]);
    expect(sent).toBeLessThan(16 * mebibyte);
  });
});

describe("an ambiguous request", () => {
  const body = '{"devices":[]}';
  const length = `Content-Length: ${body.length}`;
  const smuggled = "GET /-net/api/v0/ok HTTP/1.1\r\nHost: x\r\n\r\n";
  const requests: [string, () => string][] = [
    [
      "two kinds of length",
      () => request([...withKey(), length, "Transfer-Encoding: chunked"], `0\r\n\r\n${smuggled}`),
    ],
    ["two lengths", () => request([...withKey(), length, "Content-Length: 0"], body + smuggled)],
    ["a length twice in one", () => request([...withKey(), "Content-Length: 14, 14"], body + smuggled)],
    [
      "a length with a sign",
      () => request([...withKey(), `Content-Length: +${body.length}`], body + smuggled),
    ],
    ["a length in hexadecimal", () => request([...withKey(), "Content-Length: 0xe"], body + smuggled)],
    [
      "chunked twice",
      () => request([...withKey(), "Transfer-Encoding: chunked, chunked"], `0\r\n\r\n${smuggled}`),
    ],
    [
      "an unknown coding",
      () => request([...withKey(), "Transfer-Encoding: xchunked"], `0\r\n\r\n${smuggled}`),
    ],
    [
      "a space before the colon",
      () => request([...withKey(), "Transfer-Encoding : chunked"], `0\r\n\r\n${smuggled}`),
    ],
    [
      "a folded header",
      () => request([...withKey(), "X-A: b\r\n Transfer-Encoding: chunked"], `0\r\n\r\n${smuggled}`),
    ],
    ["bare line feeds", () => request(withKey()).replaceAll("\r\n", "\n") + smuggled],
    ["a bare carriage return", () => request([...withKey(), "X-A: b\rTransfer-Encoding: chunked"], smuggled)],
    [
      "a chunk's size with more",
      () => request([...withKey(), "Transfer-Encoding: chunked"], `0x0\r\n\r\n${smuggled}`),
    ],
    ["a NUL in a header", () => request([...withKey(), "X-A: b\u0000c"], smuggled)],
    ["no host", () => request([target], smuggled)],
    ["two hosts", () => request([...withKey(), "Host: y", length], body + smuggled)],
    ["one host twice", () => request([...withKey(), "host: x", length], body + smuggled)],
    ["no request", () => "\u0016\u0003\u0001\u0000garbage\r\n\r\n"],
  ];
  test.each(requests)(
    "with %s is refused, its connection is closed, and the text after it is not answered",
    async (_, make) => {
      const { statuses } = await raw(controller.url, make());
      expect(statuses).toEqual([400]);
    },
  );

  test("with endless headers is refused", async () => {
    const { statuses } = await raw(controller.url, request([...base, `X-A: ${"a".repeat(17_000)}`]));
    expect(statuses).toEqual([400]);
  });

  test.each(["TRACE", "CONNECT"])("with the method %s is refused", async (method) => {
    const { statuses } = await raw(
      controller.url,
      request([`${method} /-net/api/v0/ok HTTP/1.1`, "Host: x", "Connection: close"]),
    );
    expect(statuses.filter((status) => status !== 400)).toEqual([]);
  });
});

describe("a slow client", () => {
  let hurried: TestController;
  let key: TestKey;
  beforeAll(async () => {
    hurried = await testController({ serve: { timeouts: { headers: 300, request: 600, keepAlive: 300 } } });
    key = await hurried.makeKey();
  });

  test("has a time limit for its headers", async () => {
    const { statuses } = await raw(hurried.url, `${target}\r\nHost: x\r\nX-A: `);
    expect(statuses).toEqual([408]);
  });

  test("has a time limit for its body", async () => {
    const { statuses } = await raw(
      hurried.url,
      request([...withKey(key), "Content-Length: 100"], '{"devices"'),
    );
    expect(statuses.every((status) => [400, 408].includes(status))).toBe(true);
  });

  test("cannot keep an idle connection", async () => {
    const { statuses } = await raw(hurried.url, request(["GET /-net/api/v0/ok HTTP/1.1", "Host: x"]));
    expect(statuses).toEqual([200]);
  });

  test("does not delay other clients", async () => {
    const slow = Array.from({ length: 200 }, () => raw(hurried.url, `${target}\r\nHost:`));
    expect((await hurried.call("GET", "/device", key)).status).toBe(200);
    await Promise.all(slow);
    expect(hurried.said).toEqual([]);
  });
});

test("aborted answers leave the server unchanged", async () => {
  expect((await controller.call("GET", "/ok")).json).toEqual({ status: "ok" });
  expect(controller.said).toEqual([]);
});
