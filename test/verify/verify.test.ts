/** @module-tag long */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { startOrigin } from "../../service/catalog/node.ts";
import { temporaryFolder } from "../support/run.ts";
import { type SignedProject, signedProject } from "../trust/support.ts";

let project: SignedProject;
/** The signed site, to copy from. */
let whole: string;
const days = (count: number) => ["--now", new Date(Date.now() + count * 24 * 3_600_000).toISOString()];

beforeAll(async () => {
  project = await signedProject();
  await project.sign(...days(0));
  whole = project.dist;
});

const rootFile = () => join(project.folder, "releases/trust/1.root.json");

/** A copy of the site to do harm to. */
function copy(): string {
  const folder = join(temporaryFolder(), "site");
  cpSync(whole, folder, { recursive: true });
  return folder;
}

async function verify(place: string, state = temporaryFolder(), root = rootFile()) {
  const { exitCode, stdout, stderr } = await project.relcat([
    "verify",
    place,
    "--root",
    root,
    "--trust-dir",
    state,
  ]);
  return { exitCode, text: stdout + stderr };
}

const edit = (folder: string, path: string, change: (text: string) => string) =>
  writeFileSync(join(folder, path), change(readFileSync(join(folder, path), "utf8")));
const latest = (folder: string, role: string) =>
  `metadata/${readdirSync(join(folder, "metadata"))
    .filter((name) => name.endsWith(`.${role}.json`))
    .sort()
    .at(-1)}`;

describe("a signed site is verified", () => {
  test("in a folder, on a file host, and behind relcat serve", async () => {
    const origin = await startOrigin({
      folder: whole,
      host: "127.0.0.1",
      port: 0,
      clock: () => 0,
      log: () => {},
    });
    for (const place of [whole, origin.url]) {
      const { exitCode, text } = await verify(place);
      expect(text).toMatch(/^Verified .*: 6 releases, 125 packages, \d+ files are what was signed\.$/);
      expect(exitCode).toBe(0);
    }
    await origin.close();
  });

  test("again, with the remembered state", async () => {
    const state = temporaryFolder();
    expect((await verify(whole, state)).exitCode).toBe(0);
    expect((await verify(whole, state)).exitCode).toBe(0);
    const [folder = ""] = readdirSync(state);
    expect(readdirSync(join(state, folder))).toEqual(
      expect.arrayContaining(["root.json", "timestamp.json", "snapshot.json"]),
    );
  });

  test("only with a trusted root", async () => {
    const none = await project.relcat(["verify", copy()]);
    expect([none.exitCode, none.stderr]).toEqual([
      2,
      expect.stringContaining("there is no root to verify signatures with"),
    ]);
    const other = await signedProject("simple", undefined, "Other");
    const wrong = await verify(whole, undefined, join(other.folder, "releases/trust/1.root.json"));
    expect([wrong.exitCode, wrong.text]).toEqual([
      6,
      expect.stringMatching(/error\[site-tampered\] .*role timestamp.*it has 0 of the 1 signatures/),
    ]);
    const no = await verify(whole, undefined, join(whole, "build.json"));
    expect([no.exitCode, no.text]).toEqual([2, expect.stringContaining("error[root-missing]")]);
  });
});

describe("a difference is reported:", () => {
  test("several missing files at once", async () => {
    const folder = copy();
    rmSync(join(folder, "feed.atom"));
    rmSync(join(folder, "releases/26.08.001/SHA256SUMS"));
    const { exitCode, text } = await verify(folder);
    expect(exitCode).toBe(6);
    expect(text).toContain("2 findings");
    expect(text).toContain("  feed.atom is missing (404)");
    expect(text).toContain("  releases/26.08.001/SHA256SUMS is missing (404)");
  });

  test("a wrong Content-Type or encoding", async () => {
    const server = createServer((request, response) => {
      const path = join(whole, new URL(request.url ?? "/", "http://x").pathname);
      const headers = path.endsWith("latest.json")
        ? { "content-type": "text/html" }
        : { "content-type": "application/json" };
      try {
        const bytes = readFileSync(path);
        response.writeHead(200, headers).end(bytes);
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { exitCode, text } = await verify(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.close();
    expect(exitCode).toBe(8);
    expect(text).toMatch(
      /^http\S+ is what was signed, but its web server sends wrong headers: \d+ findings\. {2}404\.html has /,
    );
    expect(text).toContain("  hint: Reload the web server, so that it uses the configuration of this build:");
    expect(text).toMatch(/ In a bucket, relcat publish SITE --repair restores the headers\.$/);
    expect(text).toContain('api/v1/latest.json has the Content-Type "text/html"');
    expect(text).toContain('index.html has the Content-Type "application/json"');
  });
});

describe("metadata is refused with its role and the reason:", () => {
  const refused = async (harm: (folder: string) => void | Promise<void>, state?: string) => {
    const folder = copy();
    await harm(folder);
    const { exitCode, text } = await verify(folder, state);
    return `${exitCode} ${text}`;
  };
  const signedRoles = ["timestamp", "snapshot", "catalog", "releases-26.08", "targets"];

  test.each(signedRoles)("%s of an attacker", async (role) => {
    const text = await refused((folder) => {
      const path = role === "timestamp" ? "metadata/timestamp.json" : latest(folder, role);
      edit(folder, path, (json) => json.replace(/"expires":"20\d\d/, '"expires":"2099'));
    });
    expect(text).toMatch(/^6 error\[site-tampered\]/);
    expect(text).toContain(role);
  });

  test.each(signedRoles)("a missing %s", async (role) => {
    const text = await refused((folder) => {
      rmSync(join(folder, role === "timestamp" ? "metadata/timestamp.json" : latest(folder, role)));
    });
    expect(text).toMatch(/^6 error\[site-tampered\] .*is missing/);
    expect(text).toContain(role);
  });

  test("an older timestamp than before, which a cache may have too", async () => {
    const state = temporaryFolder();
    const early = join(temporaryFolder(), "site");
    cpSync(whole, early, { recursive: true });
    rmSync(join(early, "metadata"), { recursive: true });
    await project.sign("--out", early, ...days(-5));
    const old = readFileSync(join(early, "metadata/timestamp.json"));
    await project.sign("--out", early, ...days(0));
    expect((await verify(early, state)).text).toContain("Verified");
    writeFileSync(join(early, "metadata/timestamp.json"), old);
    const { exitCode, text } = await verify(early, state);
    expect([exitCode, text]).toEqual([
      7,
      expect.stringMatching(
        /error\[site-stale\] .*\(role timestamp\) .*older than what was seen here before \(version 1 < 2\)/,
      ),
    ]);
  });

  test("expired metadata, which is not tampering", async () => {
    const folder = copy();
    rmSync(join(folder, "metadata"), { recursive: true });
    await project.sign("--out", folder, ...days(-8));
    const { exitCode, text } = await verify(folder);
    expect([exitCode, text]).toEqual([
      7,
      expect.stringMatching(/error\[site-expired\] .*the timestamp metadata has expired/),
    ]);
  });

  test("a host that answers 200 for missing files", async () => {
    const page = "<!doctype html><title>Welcome</title>";
    const server = createServer((request, response) => {
      const path = join(whole, new URL(request.url ?? "/", "http://x").pathname);
      try {
        response.end(readFileSync(path));
      } catch {
        response.end(page);
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { exitCode, text } = await verify(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.close();
    expect([exitCode, text]).toEqual([
      6,
      expect.stringMatching(
        /answers 200 with something else for metadata\/2\.root\.json[\s\S]*misconfigured/,
      ),
    ]);
  });

  test("endless metadata", async () => {
    const server = createServer((_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, " ");
      const pour = () => {
        while (!response.destroyed && response.write(chunk)) {}
      };
      response.on("drain", pour);
      pour();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { exitCode, text } = await verify(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.closeAllConnections();
    server.close();
    expect([exitCode, text]).toEqual([
      6,
      expect.stringMatching(/error\[site-tampered\] .*2\.root\.json has more than \d+ bytes/),
    ]);
  });

  test("an unreachable place is not reported as tampering", async () => {
    const { exitCode, text } = await verify("http://127.0.0.1:1");
    expect([exitCode, text]).toEqual([5, expect.stringContaining("error[network]")]);
  });

  test("verified metadata is remembered even if a file of the site is wrong", async () => {
    const state = temporaryFolder();
    await refused((folder) => rmSync(join(folder, "feed.atom")), state);
    const [site = ""] = readdirSync(state);
    expect(readdirSync(join(state, site))).toContain("timestamp.json");
  });
});
