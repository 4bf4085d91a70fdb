/** @module-tag long */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { downloadBase, resolveDownloads } from "../../../pipeline/intake/import/import-catalog.ts";
import { fetchBytes } from "../../../pipeline/system/network/fetch.ts";
import { type Live, liveRecord, rows } from "../../support/live-catalog.ts";
import { complaints, entryOf, expectRebuilt, liveProject, setLive } from "./importing.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A live catalog on 127.0.0.1 with answers from each test. */
const answers = new Map<string, Answer>();
const asked: string[] = [];
let busy = 0;
let mostBusy = 0;
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  mostBusy = Math.max(mostBusy, ++busy);
  response.on("close", () => busy--);
  const answer = answers.get(request.url ?? "");
  if (answer) answer(request, response);
  else response.writeHead(404).end();
});
let origin = "";
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  answers.clear();
  asked.length = 0;
  mostBusy = 0;
});

const hasty = { silence: 2000, attempts: 3, pause: 1 };
const redirect =
  (location: string): Answer =>
  (_, response) =>
    response.writeHead(302, { location }).end();
const status =
  (code: number): Answer =>
  (_, response) =>
    response.writeHead(code).end();
const list =
  (records: unknown): Answer =>
  (_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(records));

const record = (id: number, name = `tool-${id}.tar.xz`): Live => {
  const row = rows.find(({ type }) => type === "xz") as (typeof rows)[number];
  return liveRecord({ id, version: "26.05.001", row, name, created: "2026-05-05T08:00:00.000001Z" });
};
const download = (id: number) => `/api/v1/package/${id}/download/`;

test("each record has the file name and address to which its download redirects", async () => {
  const records = [record(1, "Tool, a label"), record(2), record(3), record(4)];
  answers.set("/api/v1/package/?ordering=-id", list(records));
  answers.set(download(1), redirect("https://cdn.example.com/26.05.001/tool%20one.tar.xz"));
  answers.set(download(2), redirect("/files/tool-2.tar.xz?version=3#part"));
  answers.set(download(3), status(200));
  answers.set(download(4), (request, response) =>
    request.method === "HEAD"
      ? status(405)(request, response)
      : redirect("https://cdn.example.com/four.xz")(request, response),
  );
  const made = liveProject([]);
  const { stderr } = await made.succeed(
    "import",
    `${origin}/api/v1/package/?ordering=-id`,
    "--resolve-downloads",
  );
  expect(stderr).toContain("Looking up 4 download addresses…");
  expect(stderr).not.toContain("warning");
  const entry = (name: string) => entryOf(made, "26.05.001", name);
  expect(entry("Tool, a label")).toMatchObject({
    file: "tool one.tar.xz",
    url: "https://cdn.example.com/26.05.001/tool%20one.tar.xz",
  });
  expect(entry("tool-2.tar.xz")).toMatchObject({ url: `${origin}/files/tool-2.tar.xz?version=3` });
  expect(entry("tool-2.tar.xz")).not.toHaveProperty("file");
  expect(entry("tool-3.tar.xz")).toMatchObject({ url: `${origin}${download(3)}` });
  expect(entry("tool-4.tar.xz")).toMatchObject({ file: "four.xz" });
  expect(asked.filter((line) => line.startsWith("GET"))).toEqual([
    "GET /api/v1/package/?ordering=-id",
    `GET ${download(4)}`,
  ]);
  await expectRebuilt(made, records);
});

test("broken and unsuitable downloads are named, and get their address from artifact_url", async () => {
  const records = [1, 2, 3, 4, 5, 6].map((id) => record(id));
  answers.set(
    download(2),
    redirect("https://bucket.example.com/two.xz?X-Amz-Signature=abc&X-Amz-Expires=900"),
  );
  answers.set(download(3), redirect("ftp://files.example.com/three.xz"));
  answers.set(download(4), redirect("https://user:secret@files.example.com/four.xz"));
  answers.set(download(5), redirect("http://["));
  answers.set(download(6), redirect("https://cdn.example.com/%ff"));
  const made = liveProject(records);
  const { stderr } = await made.succeed(
    "import",
    "live.json",
    "--resolve-downloads",
    "--resolve-base",
    `${origin}/api/v1`,
  );
  expect(complaints(stderr)).toMatchInlineSnapshot(`
    [
      "warning[download-address] record 1 ("tool-1.tar.xz" of 26.05.001): its download answers 404",
      "warning[download-address] record 2 ("tool-2.tar.xz" of 26.05.001): its download leads to an address that expires",
      "warning[download-address] record 3 ("tool-3.tar.xz" of 26.05.001): its download leads to "ftp://files.example.com", which cannot be kept",
      "warning[download-address] record 4 ("tool-4.tar.xz" of 26.05.001): its download leads to "https://files.example.com", which cannot be kept",
      "warning[download-address] record 5 ("tool-5.tar.xz" of 26.05.001): its download answers 302 without an address",
    ]
  `);
  expect(entryOf(made, "26.05.001", "tool-2.tar.xz")).toMatchObject({ file: "two.xz" });
  expect(made.read("releases/26.05.001/manifests/imported.json")).not.toMatch(/secret|Signature/);
});

test("an address that several records share is ignored: it is a login page", async () => {
  const records = [record(1), record(2), record(3)];
  for (const { id } of records)
    answers.set(download(id), redirect(`https://x.example/login/?next=%2F${id > 2 ? 3 : ""}`));
  const made = liveProject(records);
  const { stderr } = await made.succeed(
    "import",
    "live.json",
    "--resolve-downloads",
    "--resolve-base",
    `${origin}/api/v1/`,
  );
  expect(complaints(stderr)).toEqual(
    [1, 2].map(
      (id) =>
        `warning[download-address] record ${id} ("tool-${id}.tar.xz" of 26.05.001): its download leads to the address that 2 records have: "https://x.example/login/?next=%2F"`,
    ),
  );
  expect(entryOf(made, "26.05.001", "tool-1.tar.xz")).not.toHaveProperty("url");
});

test("two downloads with the same file name get different names", async () => {
  const records = [record(1), record(2)];
  for (const { id } of records) answers.set(download(id), redirect(`https://cdn.example.com/${id}/same.xz`));
  const made = liveProject(records);
  await made.succeed("import", "live.json", "--resolve-downloads", "--resolve-base", `${origin}/api/v1/`);
  const manifest = JSON.parse(made.read("releases/26.05.001/manifests/imported.json"));
  expect(manifest.artifacts).toMatchObject([
    { name: "tool-1.tar.xz", url: "https://cdn.example.com/1/same.xz" },
    { name: "tool-2.tar.xz", url: "https://cdn.example.com/2/same.xz" },
  ]);
  for (const entry of manifest.artifacts) expect(entry).not.toHaveProperty("file");
});

test("guessed addresses can be resolved later, and known ones are not requested again", async () => {
  const records = [record(1), record(2)];
  const made = liveProject(records);
  await made.succeed("import", "live.json");
  answers.set(download(1), redirect("https://cdn.example.com/other-name.xz"));
  const lookUp = () =>
    made.succeed("import", "live.json", "--resolve-downloads", "--resolve-base", `${origin}/api/v1`);
  await lookUp();
  // The file is the artifact's identity since the first import.
  expect(entryOf(made, "26.05.001", "tool-1.tar.xz")).toMatchObject({
    url: "https://cdn.example.com/other-name.xz",
  });
  expect(entryOf(made, "26.05.001", "tool-1.tar.xz")).not.toHaveProperty("file");
  asked.length = 0;
  await lookUp();
  expect(asked).toEqual([`HEAD ${download(2)}`]);
});

test("a template adds only addresses that differ from those of artifact_url", async () => {
  const records = [record(1), record(2)];
  const made = liveProject(records, {
    "releases/catalog.yaml": { artifact_url: "https://dl.example.com/{version}/{file}" },
  });
  await made.succeed("import", "live.json", "--download-url", "https://dl.example.com/{version}/{file}");
  expect(entryOf(made, "26.05.001", "tool-1.tar.xz")).not.toHaveProperty("url");
  setLive(made, [...records, record(3, "tool 3.xz")]);
  await made.succeed(
    "import",
    "live.json",
    "--download-url",
    "https://old.example.com/{package_type}/{id}/{name}",
  );
  expect(entryOf(made, "26.05.001", "tool 3.xz")).toMatchObject({
    url: "https://old.example.com/xz/3/tool%203.xz",
  });
  expect(entryOf(made, "26.05.001", "tool-1.tar.xz")).toMatchObject({
    url: "https://old.example.com/xz/1/tool-1.tar.xz",
  });
});

test.each([
  [["--download-url", "https://x/{nam}"], "error[usage] the placeholder {nam} is not known"],
  [
    ["--download-url", "ftp://x/{name}"],
    'error[usage] --download-url is "ftp://x/{name}", expected an http or https URL without credentials',
  ],
  [
    ["--resolve-downloads"],
    'error[usage] downloads are looked up at an http or https address, not "live.json"',
  ],
  [["--resolve-base", "https://x"], "error[usage] --resolve-base needs --resolve-downloads"],
  [
    ["--resolve-downloads", "--download-url", "https://x"],
    "error[usage] --download-url and --resolve-downloads both say where the files are",
  ],
])("%j is a usage error", async (options, sentence) => {
  const made = liveProject([record(1)]);
  const { exitCode, stderr } = await made.run("import", "live.json", ...options);
  expect([exitCode, complaints(stderr)]).toEqual([2, [sentence]]);
});

test.each([
  ["https://x.example/api/v1/package/?format=json", undefined, "https://x.example/api/v1"],
  ["https://x.example/api/v1/package", undefined, "https://x.example/api/v1"],
  ["https://x.example/api/v1/package.json", undefined, "https://x.example/api/v1"],
  ["https://x.example/package/index.json", undefined, "https://x.example"],
  ["live.json", "https://x.example/api/v1/", "https://x.example/api/v1"],
])("the downloads of %s start at %s %s", (source, given, base) => {
  expect(downloadBase(source, given)).toBe(base);
});

test("a list at another address is refused, because its downloads are unknown", () => {
  expect(() => downloadBase("https://x.example/list.json", undefined)).toThrow(
    "https://x.example/list.json does not end in /package/, so its downloads are not known",
  );
});

test("few downloads are requested at the same time, and a server that fails temporarily is asked again", async () => {
  const records = Array.from({ length: 60 }, (_, index) => record(index + 1));
  let failures = 0;
  for (const { id } of records) answers.set(download(id), redirect(`https://cdn.example.com/${id}.xz`));
  const steady = answers.get(download(7)) as Answer;
  answers.set(download(7), (...exchange) => (failures++ < 2 ? status(503) : steady)(...exchange));
  const lookups: { done: number; total: number }[] = [];
  const { addresses, problems } = await resolveDownloads(
    records as never,
    `${origin}/api/v1`,
    hasty,
    (lookup) => lookups.push(lookup),
  );
  expect([addresses.size, problems]).toEqual([60, []]);
  expect(lookups).toEqual(records.map((_, index) => ({ done: index + 1, total: 60 })));
  expect(addresses.get(7)).toEqual({ file: "7.xz", url: "https://cdn.example.com/7.xz" });
  expect(mostBusy).toBeLessThanOrEqual(16);
  expect(asked.filter((line) => line.endsWith(download(7)))).toHaveLength(3);
});

test("a server that fails permanently stops the import, which sends no more requests", async () => {
  const records = Array.from({ length: 500 }, (_, index) => record(index + 1));
  for (const { id } of records) answers.set(download(id), status(502));
  await expect(resolveDownloads(records as never, `${origin}/api/v1`, hasty)).rejects.toThrow(
    /^network: http:\/\/127\.0\.0\.1:\d+\/api\/v1\/package\/\d+\/download\/ answered 502 Bad Gateway$/,
  );
  expect(asked.length).toBeLessThan(100);
});

test("a list is fetched through a few redirects, and never from https to http", async () => {
  const bytes = async (path: string, limit = 1000) =>
    Buffer.from(await fetchBytes(`${origin}${path}`, limit, hasty)).toString();
  answers.set("/list", list([1]));
  answers.set("/moved", redirect("/list"));
  answers.set("/loop", redirect("/loop"));
  answers.set("/away", redirect("file:///etc/passwd"));
  answers.set("/broken", (_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("[1,");
    setImmediate(() => response.destroy());
  });
  answers.set("/silent", () => {});
  expect(await bytes("/moved")).toBe("[1]");
  await expect(bytes("/list", 2)).rejects.toThrow(/file-size: .*\/list has more than 2 bytes/);
  await expect(bytes("/loop")).rejects.toThrow("redirects more than 5 times");
  await expect(bytes("/away")).rejects.toThrow("leads to file://, which is not followed");
  await expect(bytes("/none")).rejects.toThrow("answered 404 Not Found");
  await expect(bytes("/broken")).rejects.toThrow(/network: .*\/broken cannot be read/);
  const silent = { silence: 50, attempts: 1, pause: 1 };
  await expect(fetchBytes(`${origin}/silent`, 10, silent)).rejects.toThrow(
    "/silent cannot be read: no answer within 0.05 s",
  );
  expect(asked.filter((line) => line === "GET /none")).toHaveLength(1);
  expect(asked.filter((line) => line === "GET /broken")).toHaveLength(3);
});

test("an unreachable server is exit status 5", async () => {
  const made = liveProject([]);
  const { exitCode, stderr } = await made.run("import", "http://127.0.0.1:1/api/v1/package/");
  expect([exitCode, complaints(stderr)]).toEqual([
    5,
    ["error[network] http://127.0.0.1:1/api/v1/package/ cannot be read: bad port"],
  ]);
});
