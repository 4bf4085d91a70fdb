import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { releases } from "../support/catalog.ts";
import { ask, idsOf, type Running, serveFolder, threeRecords } from "./origin.ts";

let running: Running;
beforeAll(async () => {
  running = await serveFolder((await threeRecords()).out);
});

/** Sends bytes unchanged. @returns everything received until the server closes the connection */
function send(bytes: string, to: Running = running): Promise<string> {
  const { hostname, port } = new URL(to.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("close", () => resolve(text));
    socket.on("error", () => {});
    socket.write(bytes, "latin1");
  });
}

describe("a path that leads outside", () => {
  const secret = readFileSync("/etc/passwd", "utf8").slice(0, 20);

  test.each([
    "/../../../../etc/passwd",
    "/..%2f..%2fetc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/%252e%252e/etc/passwd",
    "/releases/%2e%2e/%2e%2e/build.json",
    "/releases/..;/build.json",
    "/releases\\..\\build.json",
    "/releases/%5c..%5cbuild.json",
    "/build.json%00.html",
    "/build.json%0a",
    "/%c0%ae%c0%ae/etc/passwd",
    "/%ff",
    "/%",
    "/%zz",
    "//etc/passwd",
    "/releases//",
    "//evil.example/%2f..",
    "/\\evil.example",
    "/.relcat-lock",
    "/.git/config",
    "/hosting/nginx.conf",
    "/hosting",
    "/__proto__",
    "/constructor/",
    "/api/v1/package/__proto__/",
    "/api/v1/package/constructor/download/",
    "/api/v1/package/1%2f..%2f2/",
    "/api/v1/package/01/",
    "/api/v1/package/1e0/",
    "/api/v1/package/-1/",
    "/api/v1/package/99999999999999999999/",
    "/api/v1/package/%EF%BC%91/",
    "/api/v1/package/ordering=-id.json/",
    "/api/v1/package/index.json/",
    "/API/V1/PACKAGE/",
    `/${"a".repeat(9000)}`,
  ])("leads to no file: %s", async (path) => {
    const answer = await ask(running.url, path);
    expect([400, 404]).toContain(answer.status);
    expect(answer.text).not.toContain(secret);
    expect(answer.headers.location).toBeUndefined();
  });

  test("is not redirected to another host", async () => {
    for (const path of ["/releases?//evil.example", "/api/v1/package?x=//evil.example"]) {
      const { headers } = await ask(running.url, path, { headers: { host: "evil.example" } });
      expect(headers.location).toMatch(/^\/(releases|api\/v1\/package)\/(\?|$)/);
    }
  });

  test("is not needed: addresses in answers come from the configuration, not from the request", async () => {
    const headers = {
      host: "evil.example",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
    };
    for (const path of [
      "/api/v1/",
      "/api/v1/package/1/download/",
      "/api/v1/package/latest/?package_type=rpm",
    ]) {
      const answer = await ask(running.url, path, { headers });
      expect(answer.text + answer.headers.location).not.toContain("evil");
    }
  });
});

test.each([
  ["GET /api/v1/package/ HTTP/1.1", "Host: a", "Host: b"],
  ["GET /api/v1/package/?ordering=id HTTP/1.1", "Host: a", "host: a"],
  ["GET /releases/ HTTP/1.1", "HOST: a", "X: y", "Host:"],
])("two Host headers are refused, and the text after them is not answered: %s, %s", async (...lines) => {
  const answer = await send(`${lines.join("\r\n")}\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
  expect(answer).toContain('{"detail":"The request has more than one Host header."}');
});

describe("a large request", () => {
  test.each([
    ["a query of 100 KB", `GET /api/v1/package/?a=${"b".repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ["10,000 parameters", `GET /api/v1/package/?${"a=&".repeat(10_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ["a flood of headers", `GET / HTTP/1.1\r\nHost: x\r\n${"X-Flood: 1\r\n".repeat(2000)}\r\n`],
    ["one large header", `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${"a".repeat(20_000)}\r\n\r\n`],
  ])("with %s is refused in one sentence", async (_, bytes) => {
    const answer = await send(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain(
      '{"detail":"The request line and headers have more than 16384 bytes, a path more than 8192."}',
    );
  });

  test("with as many parameters as possible is answered, and the header that names them has a bound", async () => {
    const names = Array.from({ length: 1500 }, (_, index) => `p${index}`);
    const answer = await ask(running.url, `/api/v1/package/?${names.join("&")}`);
    expect(idsOf(answer)).toEqual([2, 3, 1]);
    const named = String(answer.headers["x-ignored-parameters"]);
    expect(named).toMatch(/^p0, p1, p2, /);
    expect(named.length).toBeLessThanOrEqual(1024);
  });

  test("with as many terms and ranges as possible is answered", async () => {
    const ordering = await ask(running.url, `/api/v1/package/?ordering=${"-name,".repeat(1000)}-id`);
    expect(idsOf(ordering)).toEqual([3, 2, 1]);
    const accept = { accept: `${"x/y;q=0.1,".repeat(1000)}application/json` };
    expect((await ask(running.url, "/api/v1/package/", { headers: accept })).status).toBe(200);
  });
});

describe("a slow client", () => {
  let hurried: Running;
  beforeAll(async () => {
    hurried = await serveFolder((await threeRecords()).out, { timeouts: { headers: 300, request: 600 } });
  });

  test("gets an answer and is disconnected if its headers never end", async () => {
    expect(await send("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", hurried)).toMatch(
      /^HTTP\/1\.1 408 Request Timeout[\s\S]+\{"detail":"The request took too long\."\}$/,
    );
  });

  test("is disconnected if its body never arrives", async () => {
    const answer = await send(
      "POST /api/v1/package/ HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{",
      hurried,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 (405|408) /);
  });

  test("does not delay others", async () => {
    const slow = send("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", hurried);
    expect((await ask(hurried.url, "/api/v1/package/")).status).toBe(200);
    await slow;
  });
});

describe("an ambiguous request is refused", () => {
  test.each([
    ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\nhello"],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a folded header", "GET / HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n 2\r\n\r\n"],
    ["a space before the colon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n"],
    ["no HTTP at all", "\x16\x03\x01\x02\x00"],
    ["a NUL in a header", "GET / HTTP/1.1\r\nHost: x\r\nX-A: \0\r\n\r\n"],
  ])("with %s", async (_, bytes) => {
    expect(await send(bytes)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  });

  test("a parameter name with a line break creates no header", async () => {
    const answer = await ask(
      running.url,
      "/api/v1/package/?a%0d%0aSet-Cookie:%20x=1&%E2%80%A8=1&%ED%A0%80=1",
    );
    expect(answer.status).toBe(200);
    expect(answer.headers["set-cookie"]).toBeUndefined();
    expect(answer.headers["x-ignored-parameters"]).toMatch(
      /^a%0D%0ASet-Cookie%3A%20x, %E2%80%A8, (%EF%BF%BD)+$/,
    );
  });

  test("names of Object.prototype are ordinary parameters", async () => {
    const answer = await ask(running.url, "/api/v1/package/?__proto__=1&constructor=2&toString=3");
    expect(idsOf(answer)).toEqual([2, 3, 1]);
    expect(answer.headers["x-ignored-parameters"]).toBe("__proto__, constructor, toString");
  });

  test.each(["bytes=0-1", "bytes=0-1,3-4,5-6", "bytes=-5", "bytes=9-1", "items=0-1", "bytes=0-0,-1"])(
    "Range: %s is ignored",
    async (range) => {
      const answer = await ask(running.url, "/api/v1/package/", { headers: { range } });
      expect([answer.status, idsOf(answer)]).toEqual([200, [2, 3, 1]]);
    },
  );

  test.each([
    ["application/json;q=abc", "application/json"],
    ["application/json;q=2", "application/json"],
    ["application/json;q=-1, text/html;q=0.1", "application/json"],
    ["text/html;q=0.0001, application/json;q=0.5", "text/html; charset=utf-8"],
    [";q=1,,;,*/*", "application/json"],
    ["text/html;q=0,*/*", "application/json"],
  ])("Accept: %s is read as well as possible", async (accept, type) => {
    expect(
      (await ask(running.url, "/api/v1/package/", { headers: { accept } })).headers["content-type"],
    ).toBe(type);
  });

  test.each(['"', '"" , W/"x"', "*,*", ",,,", '"a"'.repeat(2000)])(
    "If-None-Match: %s matches nothing",
    async (tag) => {
      expect((await ask(running.url, "/api/v1/package/", { headers: { "if-none-match": tag } })).status).toBe(
        200,
      );
    },
  );
});

describe("hostile values of records", () => {
  const nasty = `"><script>alert(1)</script>'--><img src=x onerror=alert(1)>{{x}}\u2028\u202e`;

  test("are text in pages, after any request", async () => {
    const catalog = releases({
      "catalog.yaml": { require: {}, platforms: { 14: "<b>RPM" } },
      "26.01.001/release.yaml": { version: "26.01.001", date: "2026-01-15", summary: nasty },
      "26.01.001/manifests/all.json": {
        release: "26.01.001",
        artifacts: [
          { name: "a<script>.rpm", package_type: "rpm", sha256: "1".repeat(64), description: nasty },
          {
            name: "javascript:alert(1).rpm",
            package_type: "rpm",
            sha256: "2".repeat(64),
            description: "</pre><script>",
          },
        ],
      },
    });
    await catalog.build();
    const { url } = await serveFolder(catalog.out);
    const query = encodeURIComponent(nasty);
    for (const path of [
      "/api/v1/package/?format=api",
      "/api/v1/package/?format=api&ordering=id",
      `/api/v1/package/?format=api&description=${query}`,
      `/api/v1/package/?format=api&x=<script>alert(1)</script>"'`,
    ]) {
      const { status, text, headers } = await ask(url, path);
      expect(status).toBe(200);
      expect(headers["content-security-policy"]).toContain("default-src 'none'");
      expect(text.match(/<script\b[^>]*>/g)).toEqual([expect.stringMatching(/^<script src="[^"]+" defer>$/)]);
      expect(text).not.toMatch(/<img|onerror=alert\(1\)>|href="javascript:/);
    }
  });
});
