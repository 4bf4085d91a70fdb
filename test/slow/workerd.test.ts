import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { workerFile } from "../service/bundle.ts";
import { ask, idsOf, threeRecords } from "../service/origin.ts";
import { freePort } from "../support/port.ts";
import { temporaryFolder } from "../support/run.ts";

/** Not a devDependency, because `npm ci` fails if its platform packages are missing. */
const runtime = "workerd@1.20261117.1";

let url: string;
let child: ChildProcess;

beforeAll(async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  await execa("npm", ["install", "--no-audit", "--no-fund", "--silent", runtime], { cwd: folder });
  const { out } = await threeRecords();
  const port = await freePort();
  copyFileSync(workerFile, join(folder, "worker.js"));
  writeFileSync(join(folder, "config.capnp"), configuration(out, port));
  const binary = join(folder, "node_modules/.bin/workerd");
  child = spawn(binary, ["serve", join(folder, "config.capnp"), "--verbose"], { stdio: "pipe" });
  url = `http://127.0.0.1:${port}`;
  await answering(url);
});

afterAll(() => void child?.kill());

const configuration = (site: string, port: number) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "catalog", worker = .worker),
    (name = "assets", disk = (path = ${JSON.stringify(site)})),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "catalog")]
);
const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-01-01",
  bindings = [(name = "ASSETS", service = "assets")]
);
`;

/** Polls until the server answers; the test's time-out ends it. */
async function answering(address: string): Promise<void> {
  while (!(await ask(address, "/build.json").catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`workerd ended with ${child.exitCode}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("the worker runs in workerd", async () => {
  expect(idsOf(await ask(url, "/api/v1/package/"))).toEqual([2, 3, 1]);
  expect(idsOf(await ask(url, "/api/v1/package/?ordering=-id"))).toEqual([3, 2, 1]);
  expect(idsOf(await ask(url, "/api/v1/package/?name=alpha.rpm"))).toEqual([1]);
  const latest = await ask(url, "/api/v1/package/latest/?package_type=rpm");
  expect([latest.status, latest.headers.location]).toEqual([
    302,
    "http://127.0.0.1:8080/files/26.02.001/beta.rpm",
  ]);
  const head = await ask(url, "/api/v1/package/", { method: "HEAD" });
  expect([head.status, head.text]).toEqual([200, ""]);
  expect(
    (await ask(url, "/api/v1/package/", { headers: { "if-none-match": head.headers.etag ?? "" } })).status,
  ).toBe(304);
});
