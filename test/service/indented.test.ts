import { beforeAll, describe, expect, test } from "vitest";
import { ask, type Running, serveFolder, threeRecords } from "./origin.ts";

let running: Running;
beforeAll(async () => {
  running = await serveFolder((await threeRecords()).out);
});

const get = (path: string, accept: string, more: Record<string, string> = {}) =>
  ask(running.url, path, { headers: { accept, ...more } });

describe("indented JSON", () => {
  test.each([
    ["application/json; indent=4", 4],
    ["application/json;indent=0", 0],
    ["application/json; INDENT = 2", 2],
    ["application/json; indent=8", 8],
    ["application/json; indent=99", 8],
    ["text/html;q=0.5, application/json;q=0.9;indent=1", 1],
    ["*/*; indent=3", 3],
    ["application/json; indent=-1", 0],
    ["application/json; indent=100", 0],
    ["application/json; indent=four", 0],
    ["application/json; indent=", 0],
    ["application/json", 0],
  ])("for %s has %i spaces", async (accept, indent) => {
    for (const path of [
      "/api/v1/package/",
      "/api/v1/package/?ordering=name&operating_system=",
      "/api/v1/package/1/",
      "/api/v1/package/99/",
      "/api/v1/",
    ]) {
      const { text, headers } = await get(path, accept);
      expect(text).toBe(JSON.stringify(JSON.parse(text), null, indent));
      expect(headers["content-type"]).toBe("application/json");
      expect(headers["content-length"]).toBe(String(Buffer.byteLength(text)));
    }
  });

  test("has its own validator, and is never compressed", async () => {
    const path = "/api/v1/package/1/";
    const [plain, four, two] = await Promise.all(
      ["application/json", "application/json; indent=4", "application/json; indent=2"].map((accept) =>
        get(path, accept, { "accept-encoding": "gzip, br" }),
      ),
    );
    const tags = [plain, four, two].map((answer) => answer?.headers.etag);
    expect(new Set(tags).size).toBe(3);
    expect(four?.headers["content-encoding"]).toBeUndefined();
    expect(four?.headers.vary).toMatch(/^Accept(,|$)/);
    const again = (tag: string | undefined) =>
      get(path, "application/json; indent=4", { "if-none-match": tag ?? "" });
    expect([(await again(tags[1])).status, (await again(tags[0])).status]).toEqual([304, 200]);
    expect(JSON.parse(four?.text ?? "")).toEqual(JSON.parse(two?.text ?? ""));
  });

  test("has its length in the answer to HEAD", async () => {
    const headers = { accept: "application/json; indent=4" };
    const [whole, head] = [
      await ask(running.url, "/api/v1/package/", { headers }),
      await ask(running.url, "/api/v1/package/", { headers, method: "HEAD" }),
    ];
    expect([head.text, head.headers["content-length"]]).toEqual(["", whole.headers["content-length"]]);
  });
});
