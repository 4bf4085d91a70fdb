import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/run.ts";
import { bundleWorker, workerFile } from "./bundle.ts";
import { threeRecords } from "./origin.ts";

test("the worker in templates/ is up to date (npm run worker)", async () => {
  expect(readFileSync(workerFile, "utf8")).toBe(await bundleWorker());
});

test("the worker uses no Node API and no imports", () => {
  const text = readFileSync(workerFile, "utf8");
  expect(text).not.toMatch(/["'`]node:|\brequire\(|\bprocess\.|\bBuffer\.|\bimport\s*\(|(^|;)import\s/m);
  expect(text.length).toBeLessThan(64 * 1024);
});

interface Worker {
  fetch(
    request: Request,
    bindings: { ASSETS: { fetch(address: string): Promise<Response> } },
  ): Promise<Response>;
}

const idsIn = async (response: Response) => ((await response.json()) as { id: number }[]).map(({ id }) => id);

type Ask = (path: string, init?: RequestInit) => Promise<Response>;

/** The bundled worker over a folder, as the platform runs it. */
async function workerOver(folder: string): Promise<Ask> {
  const module = join(temporaryFolder(), "worker.mjs");
  writeFileSync(module, readFileSync(workerFile));
  const worker: Worker = (await import(module)).default;
  const ASSETS = {
    fetch: async (address: string) => {
      const file = join(folder, decodeURIComponent(new URL(address).pathname));
      return existsSync(file) ? new Response(readFileSync(file)) : new Response(null, { status: 404 });
    },
  };
  return (path, init) => worker.fetch(new Request(`https://edge.example${path}`, init), { ASSETS });
}

describe("over the files of a site, the worker", () => {
  let ask: Ask;
  beforeAll(async () => {
    ask = await workerOver((await threeRecords()).out);
  });

  test("answers the page of the search, whatever is asked", async () => {
    const response = await ask("/search/?q=rpm");
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    expect(await response.text()).toContain("Search for a version");
  });

  test("answers the list and selections", async () => {
    const list = await ask("/api/v1/package/");
    expect(list.headers.get("content-type")).toBe("application/json");
    expect(await idsIn(list)).toEqual([2, 3, 1]);
    const selected = await ask("/api/v1/package/?version=26.01.001&ordering=id");
    expect(await idsIn(selected)).toEqual([1, 3]);
  });

  test("redirects to the newest file", async () => {
    const latest = await ask("/api/v1/package/latest/?package_type=rpm");
    expect([latest.status, latest.headers.get("location")]).toEqual([
      302,
      "http://127.0.0.1:8080/files/26.02.001/beta.rpm",
    ]);
  });

  test("answers pages and 404.html", async () => {
    expect((await ask("/releases/26.01.001/")).headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect((await ask("/nowhere")).status).toBe(404);
  });

  test("refuses POST", async () => {
    const refused = await ask("/api/v1/package/", { method: "POST", body: "{}" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, POST, HEAD, OPTIONS"]);
  });
});

describe("over a list that is too large for one answer, the worker", () => {
  let ask: Ask;
  beforeAll(async () => {
    const { out } = await threeRecords();
    const path = join(out, "build.json");
    const build = JSON.parse(readFileSync(path, "utf8"));
    build.files["api/v1/package/index.json"].size = 5_000_001;
    writeFileSync(path, JSON.stringify(build));
    ask = await workerOver(out);
  });

  test("answers the whole list, and selections that have their own document", async () => {
    expect(await idsIn(await ask("/api/v1/package/"))).toEqual([2, 3, 1]);
    expect(await idsIn(await ask("/api/v1/package/?version=26.01.001&name=gamma.rpm"))).toEqual([3]);
    expect(await idsIn(await ask("/api/v1/package/?id=2&package_type=rpm"))).toEqual([2]);
    expect(await idsIn(await ask("/api/v1/package/?id=9"))).toEqual([]);
  });

  test("refuses other selections with a hint", async () => {
    const refused = await ask("/api/v1/package/?operating_system=linux");
    expect([refused.status, await refused.json()]).toEqual([
      501,
      { detail: "The list is too large to be filtered here: name a version, an id or a package_type." },
    ]);
  });
});
