import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Origin, startOrigin } from "../../service/catalog/node.ts";
import { send } from "../site/hosting/exchange.ts";
import { type PublishingProject, publishingProject } from "./support.ts";

/** `relcat serve --dir SITE/current` serves only the published files. */
let project: PublishingProject;
let server: Origin;
const logged: string[] = [];

beforeAll(async () => {
  project = await publishingProject();
  await project.succeed("publish", "prod");
  const log = (entry: object) => "message" in entry && logged.push(String(entry.message));
  const address = { host: "127.0.0.1", port: 0, clock: () => performance.now(), log };
  server = await startOrigin({ folder: join(project.www, "current"), ...address });
});
afterAll(() => server?.close());

const at = (origin: Origin) => `${origin.url}${new URL(project.baseUrl).pathname.replace(/\/$/, "")}`;
const get = (path: string, headers = {}, method = "GET") => send(`${at(server)}/${path}`, method, headers);
const deb = "files/26.07.001/client-core_26.07.001_2004.deb";

test("serve has every public file of the site's index, and the site verifies", {
  tags: ["long"],
}, async () => {
  const [entry] = project.state().history;
  const { files } = JSON.parse(readFileSync(join(project.www, `state/${entry?.files}.json`), "utf8"));
  const paths = Object.keys(files);
  expect(paths).toContain("metadata/timestamp.json");
  expect(paths).toContain("releases/26.08.002/SHA256SUMS.sig");
  const wrong: string[] = [];
  for (const path of paths) {
    const { status, body } = await get(path);
    if (status !== 200 || !body.equals(readFileSync(join(project.www, "current", path)))) wrong.push(path);
  }
  expect(wrong).toEqual([]);
  const root = join(project.folder, "releases/trust/1.root.json");
  const { stdout } = await project.succeed("verify", at(server), "--root", root, "--trust-dir", "served");
  expect(stdout).toMatch(/^Verified /);
});

describe("artifacts", () => {
  test("are served in full and in ranges, with validators", async () => {
    const bytes = readFileSync(join(project.www, deb));
    const whole = await get(deb);
    expect([whole.status, whole.body]).toEqual([200, bytes]);
    const { etag = "", "last-modified": date = "" } = whole.headers;
    expect((await get(deb, { "If-None-Match": etag })).status).toBe(304);
    expect((await get(deb, { Range: "bytes=1-", "If-Range": etag })).status).toBe(206);
    expect((await get(deb, { Range: "bytes=1-", "If-Range": date })).status).toBe(206);
    expect((await get(deb, { Range: "bytes=1-", "If-Range": '"other"' })).status).toBe(200);
    expect((await get(deb, { Range: "bytes=0-1,4-5" })).status).toBe(200);
    const head = await get(deb, {}, "HEAD");
    expect([head.status, head.headers["content-length"]]).toEqual([200, String(bytes.length)]);
    expect((await get(deb, {}, "PUT")).status).toBe(405);
  });

  test("have no type if their ending is the name of a member of every object", async () => {
    const path = "files/26.07.001/tool.constructor";
    writeFileSync(join(project.www, path), "bytes");
    const { status, headers } = await get(path);
    expect([status, headers["content-type"]]).toEqual([200, "application/octet-stream"]);
  });

  test("are served without the files next to them", async () => {
    const hidden = [
      ...["current.json", "state/current.json", "files/../current.json", "files/%2e%2e/current.json"],
      ...["files/..%2fcurrent.json", "files/26.07.001", "files/", "files/.secret", "files//etc/passwd"],
    ];
    writeFileSync(join(project.www, "files/.secret"), "secret");
    for (const path of hidden) expect([path, (await get(path)).status >= 400]).toEqual([path, true]);
  });

  test("are served only from the site's own folder, and not through a link that leads out", async () => {
    const files = join(project.www, "files");
    symlinkSync(join(project.www, "current.json"), join(files, "state.json"));
    symlinkSync(project.folder, join(files, "project"));
    symlinkSync("26.07.001", join(files, "alias"));
    expect((await get("files/state.json")).status).toBe(404);
    expect((await get("files/project/releases/catalog.yaml")).status).toBe(404);
    expect((await get(deb.replace("26.07.001", "alias"))).status).toBe(200);
    expect(logged).toEqual([]);
  });

  test("are not served through a link that publish did not make", async () => {
    const www = join(project.folder, "other");
    mkdirSync(join(www, "builds"), { recursive: true });
    renameSync(join(project.www, "state"), join(www, "state"));
    const [entry] = project.state().history;
    renameSync(join(project.www, "builds", entry?.files ?? ""), join(www, "builds", entry?.files ?? ""));
    const folder = join(www, "builds", entry?.files ?? "");
    rmSync(join(folder, "files"));
    symlinkSync(join(project.www, "files"), join(folder, "files"));
    const log = () => {};
    const other = await startOrigin({ folder, host: "127.0.0.1", port: 0, clock: () => 0, log });
    try {
      expect((await send(`${at(other)}/metadata/timestamp.json`, "GET", {})).status).toBe(200);
      expect((await send(`${at(other)}/${deb}`, "GET", {})).status).toBe(404);
    } finally {
      await other.close();
    }
  });
});
