/** @module-tag long */
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { describeRecord, files } from "../ledger/history.ts";
import { plainRelease, releases } from "../support/catalog.ts";
import { copyProject, program, relcat } from "../support/run.ts";
import { hasTerminal, typingAtTerminal } from "../support/terminal.ts";
import { ask, idsOf, serveFolder, threeRecords } from "./origin.ts";

describe("a new build", () => {
  test("replaces the old one without a restart", async () => {
    const catalog = await threeRecords();
    const { url, origin } = await serveFolder(catalog.out);
    const before = origin.build();
    catalog.write(plainRelease("26.03.001", ["delta.rpm"]));
    await catalog.cut({}, "2026-04-20T10:00:00Z");
    await catalog.build();
    await origin.refresh();
    expect(origin.build()).not.toBe(before);
    expect(idsOf(await ask(url, "/api/v1/package/"))).toEqual([4, 2, 3, 1]);
    expect(idsOf(await ask(url, "/api/v1/package/?name=delta.rpm"))).toEqual([4]);
  });

  test("is invisible while it is written: lists, records and pages are from one build", async () => {
    const catalog = releases(plainRelease("26.01.001", files("26.01.001", "a", "b")));
    await catalog.cut({}, "2026-01-20T10:00:00Z");
    await catalog.build();
    const { url, origin } = await serveFolder(catalog.out);
    // Half of another build: it has the record, but neither the list nor build.json.
    const half = join(catalog.out, "api/v1/package/1/index.json");
    writeFileSync(half, '{"id":1,"half":true}');
    await origin.refresh();
    const record = await ask(url, "/api/v1/package/1/");
    expect([record.status, record.headers["retry-after"]]).toEqual([503, "1"]);
    expect(idsOf(await ask(url, "/api/v1/package/"))).toEqual([2, 1]);
    describeRecord(catalog, "26.01.001", 0, "Better.");
    await catalog.cut({}, "2026-01-21T10:00:00Z");
    await catalog.build();
    expect((await ask(url, "/api/v1/package/1/")).text).toContain('"Better."');
    expect((await ask(url, "/api/v1/package/")).text).toContain('"Better."');
  });

  test("is ignored if it is incomplete", async () => {
    const catalog = await threeRecords();
    const { url, origin } = await serveFolder(catalog.out);
    const build = origin.build();
    const path = join(catalog.out, "build.json");
    writeFileSync(path, JSON.stringify({ ...JSON.parse(catalog.read("../dist/build.json")), files: {} }));
    await origin.refresh();
    expect(origin.build()).toBe(build);
    expect(idsOf(await ask(url, "/api/v1/package/"))).toEqual([2, 3, 1]);
  });
});

describe("compressed files", () => {
  test("are served from the folder, each with its own ETag", async () => {
    const catalog = await threeRecords();
    const list = join(catalog.out, "api/v1/package/index.json");
    const plain = Buffer.from(catalog.read("../dist/api/v1/package/index.json"));
    writeFileSync(`${list}.gz`, gzipSync(plain));
    const { url } = await serveFolder(catalog.out);
    const identity = await ask(url, "/api/v1/package/");
    const packed = await ask(url, "/api/v1/package/", { headers: { "accept-encoding": "br;q=0, gzip" } });
    expect(identity.headers["content-encoding"]).toBeUndefined();
    expect(packed.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept, Accept-Encoding" });
    expect(packed.bytes).toEqual(gzipSync(plain));
    expect(packed.headers.etag).not.toBe(identity.headers.etag);
    const again = { "accept-encoding": "gzip", "if-none-match": packed.headers.etag ?? "" };
    expect((await ask(url, "/api/v1/package/", { headers: again })).status).toBe(304);
    expect(
      (await ask(url, "/api/v1/package/", { headers: { ...again, "accept-encoding": "" } })).status,
    ).toBe(200);
  });

  test("are ignored if they have other bytes", async () => {
    const catalog = await threeRecords();
    const list = join(catalog.out, "api/v1/package/index.json");
    writeFileSync(`${list}.gz`, gzipSync("[]"));
    writeFileSync(`${list}.br`, "no brotli");
    const { url } = await serveFolder(catalog.out);
    const answer = await ask(url, "/api/v1/package/", { headers: { "accept-encoding": "br, gzip" } });
    expect([answer.headers["content-encoding"], idsOf(answer)]).toEqual([undefined, [2, 3, 1]]);
  });
});

test("two orderings, filters or formats never have the same ETag", async () => {
  const { url } = await serveFolder((await threeRecords()).out);
  const paths = [
    "",
    "?ordering=-id",
    "?ordering=id",
    "?version=26.01.001",
    "?name=alpha.rpm",
    "?format=api",
    "?id=9",
  ];
  const tags = await Promise.all(
    paths.map(async (query) => (await ask(url, `/api/v1/package/${query}`)).headers.etag),
  );
  expect(tags.every((tag) => /^"[\x21\x23-\x7e]+"$/.test(tag ?? ""))).toBe(true);
  expect(new Set(tags).size).toBe(paths.length);
});

test("a page that Accept selected is not cached, one with its own address is", async () => {
  const { url } = await serveFolder((await threeRecords()).out);
  const html = { accept: "text/html,*/*;q=0.8" };
  const cacheOf = async (path: string, headers = {}) =>
    (await ask(url, path, { headers })).headers["cache-control"];
  expect(await cacheOf("/api/v1/package/", html)).toBe("no-store");
  expect(await cacheOf("/api/v1/package/?name=alpha.rpm", html)).toBe("no-store");
  expect(await cacheOf("/api/v1/package/1/", html)).toBe("no-store");
  expect(await cacheOf("/api/v1/package/?format=api")).toBe("public, max-age=60, stale-while-revalidate=600");
  expect(await cacheOf("/api/v1/package/")).toBe("public, max-age=60, stale-while-revalidate=600");
});

describe("the log", () => {
  test("has one line for each request", async () => {
    const { url, log } = await serveFolder((await threeRecords()).out);
    await ask(url, "/api/v1/package/?id=1", { headers: { "user-agent": "installer/1" } });
    await ask(url, "/nowhere", { method: "PUT" });
    expect(log).toMatchObject([
      {
        event: "request",
        remote: "127.0.0.1",
        method: "GET",
        path: "/api/v1/package/?id=1",
        status: 200,
        agent: "installer/1",
      },
      { event: "request", method: "PUT", path: "/nowhere", status: 404, agent: "" },
    ]);
  });

  test("believes X-Forwarded-For only up to the first untrusted proxy", async () => {
    const { out } = await threeRecords();
    const forwarded = { headers: { "x-forwarded-for": "9.9.9.9, 1.2.3.4, 10.1.1.1" } };
    const remoteWith = async (trustedProxies: string[]) => {
      const { url, log } = await serveFolder(out, { trustedProxies });
      await ask(url, "/", forwarded);
      return log.map((entry) => "remote" in entry && entry.remote);
    };
    expect(await remoteWith([])).toEqual(["127.0.0.1"]);
    expect(await remoteWith(["10.0.0.0/8"])).toEqual(["127.0.0.1"]);
    expect(await remoteWith(["127.0.0.1", "10.0.0.0/8"])).toEqual(["1.2.3.4"]);
  });
});

test("healthz names the served build", async () => {
  const { url, origin } = await serveFolder((await threeRecords()).out);
  const { status, text, headers } = await ask(url, "/healthz");
  expect([status, JSON.parse(text), headers["cache-control"]]).toEqual([
    200,
    { status: "ok", build: origin.build() },
    "no-store",
  ]);
});

describe("a base path", () => {
  test("has everything below it, and nothing outside", async () => {
    const catalog = releases(plainRelease("26.01.001", ["alpha.rpm"]), {
      "catalog.yaml": { require: {}, base_url: "https://example.com/some/base" },
    });
    await catalog.build();
    const { url } = await serveFolder(catalog.out);
    expect(idsOf(await ask(url, "/some/base/api/v1/package/"))).toEqual([1]);
    expect((await ask(url, "/some/base/api/v1/package?x=1")).headers.location).toBe(
      "/some/base/api/v1/package/?x=1",
    );
    expect((await ask(url, "/some/base/api/v1/package/1/?format=api")).headers.location).toBe(
      "/some/base/releases/26.01.001/#p1",
    );
    expect((await ask(url, "/some/base")).headers.location).toBe("/some/base/");
    expect((await ask(url, "/api/v1/package/")).status).toBe(404);
    expect((await ask(url, "/some/based/api/v1/package/")).status).toBe(404);
  });
});

describe("relcat serve", () => {
  const start = (folder: string, ...args: string[]) =>
    execa(process.execPath, [program, "serve", "--port", "0", ...args], {
      cwd: folder,
      reject: false,
    });

  async function firstLine(running: ReturnType<typeof start>, pattern: RegExp): Promise<string> {
    let text = "";
    return new Promise((resolve, reject) => {
      const read = (chunk: Buffer) => {
        text += chunk;
        const found = pattern.exec(text);
        if (found) resolve(found[1] ?? "");
      };
      running.stderr?.on("data", read);
      running.stdout?.on("data", read);
      void running.then(() => reject(new Error(text)));
    });
  }

  test("serves a built site, finishes its requests after SIGTERM, and exits 0", async () => {
    const folder = copyProject(".");
    await relcat(folder, ["build"]);
    const running = start(folder, "--json");
    const url = await firstLine(running, /"url":"([^"]+)"/);
    expect(idsOf(await ask(url, "/api/v1/package/?package_type=helm&version=latest"))).toHaveLength(1);
    // The headers of this request are still incomplete when the signal arrives.
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write("GET /api/v1/latest.txt HTTP/1.1\r\nHost: x\r\n");
    await ask(url, "/healthz");
    running.kill("SIGTERM");
    await new Promise<void>((resolve) =>
      running.stderr?.on("data", (chunk) => /Finishing/.test(String(chunk)) && resolve()),
    );
    socket.write("Connection: close\r\n\r\n");
    const late = await new Promise<string>((resolve) => {
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk;
      });
      socket.on("close", () => resolve(text));
    });
    expect(late).toMatch(/^HTTP\/1\.1 200 OK[\s\S]+26\.09\.001\n$/);
    const { exitCode, stdout } = await running;
    expect(exitCode).toBe(0);
    const lines = stdout.split("\n").map((line) => JSON.parse(line));
    expect(lines.map(({ event, path }) => path ?? event)).toEqual([
      "listening",
      "/api/v1/package/?package_type=helm&version=latest",
      "/healthz",
      "/api/v1/latest.txt",
    ]);
  });

  test.skipIf(!hasTerminal)("prints each request as a short line at a terminal", async () => {
    const folder = copyProject(".");
    await relcat(folder, ["build"]);
    let asked: Promise<unknown> | undefined;
    const { text } = await typingAtTerminal(folder, ["serve", "--port", "0"], (shown) => {
      const [, url] = /on (http:\S+)\/\./.exec(shown) ?? [];
      if (url !== undefined) asked ??= ask(url, "/api/v1/latest.txt?a=%1b");
      return /^GET .* ms$/m.test(shown.replaceAll("\r", "")) ? "\u0003" : undefined;
    });
    await asked;
    expect(text).toMatch(/^GET \/api\/v1\/latest\.txt\?a=%1b 200 \d+ ms$/m);
    expect(text).not.toContain('"event"');
  });

  test("with --watch builds after each change, and keeps the last valid site", async () => {
    const folder = copyProject(".");
    const running = start(folder, "--watch", "--quiet");
    const url = await firstLine(running, /on (http:\S+)\/, again/);
    const note = join(folder, "releases/26.09.001/notes/watched.yaml");
    const wait = firstLine(running, /(error\[note-kind\][\s\S]+Not built)/);
    writeFileSync(note, "component: server\nkind: nonsense\ntext: Seen while watching.\n");
    await wait;
    expect((await ask(url, "/releases/26.09.001/")).text).not.toContain("Seen while watching");
    const built = firstLine(running, /("event":"build")/);
    writeFileSync(note, "component: server\nkind: fix\ntext: Seen while watching.\n");
    await built;
    expect((await ask(url, "/releases/26.09.001/")).text).toContain("Seen while watching");
    running.kill("SIGINT");
    expect((await running).exitCode).toBe(0);
  });

  test.each([
    [
      "a folder without a site",
      [],
      "error[folder-missing] dist/ does not contain a built site\n  hint: Build one first: relcat build",
    ],
    [
      "an invalid proxy",
      ["--trusted-proxies", "proxy.example"],
      'error[usage] --trusted-proxies is "proxy.example", expected addresses or networks\n  hint: For example: --trusted-proxies 127.0.0.1 10.0.0.0/8',
    ],
  ])("refuses %s", async (_, args, message) => {
    const { stderr, exitCode } = await start(copyProject("."), ...args);
    expect({ stderr, exitCode }).toEqual({ stderr: message, exitCode: 2 });
  });

  test("refuses an incomplete site, and a port that is in use", async () => {
    const folder = copyProject(".");
    await relcat(folder, ["build"]);
    const { url } = await serveFolder(join(folder, "dist"));
    const { port } = new URL(url);
    expect(await start(folder, "--port", port)).toMatchObject({
      exitCode: 2,
      stderr: `error[address-taken] another program is listening on 127.0.0.1:${port}\n  hint: Give another --port; --port 0 takes any free one.`,
    });
    writeFileSync(join(folder, "dist/api/v1/package/index.json"), "[]");
    expect(await start(folder)).toMatchObject({
      exitCode: 1,
      stderr:
        "error[build-unreadable] dist/ does not contain a complete site: api/v1/package/index.json\n  hint: Build it again: relcat build",
    });
  });
});
