import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/run.ts";
import { type SignedProject, signedProject } from "../trust/support.ts";
import { copyOf, daysFromNow, hash, host, verify } from "./support.ts";

let project: SignedProject;
/** As each publish left the site, all metadata kept. */
const sites: string[] = [];
const hour = 1 / 24;

beforeAll(async () => {
  project = await signedProject("simple", new Date(Date.now() - 3_600_000 * 24).toISOString());
  for (const [index, when] of [-3 * hour, -2 * hour, -hour].entries()) {
    const config = join(project.folder, "releases/catalog.yaml");
    writeFileSync(config, readFileSync(config, "utf8").replace(/^product: .*$/m, `product: Build ${index}`));
    const { exitCode, stderr } = await project.relcat(["build", "--released"]);
    expect(exitCode, stderr).toBe(0);
    await project.sign(...daysFromNow(when));
    const site = index === 0 ? join(temporaryFolder(), "site") : copyOf(sites[index - 1] ?? "");
    cpSync(project.dist, site, { recursive: true });
    rmSync(join(site, "metadata/signed.json")); // The signer's own.
    sites.push(site);
  }
});

/** The newest site, with files of the older ones. */
function mixed(files: Readonly<Record<string, number>>): string {
  const folder = copyOf(sites[2] ?? "");
  for (const [path, from] of Object.entries(files)) cpSync(join(sites[from] ?? "", path), join(folder, path));
  return folder;
}

const buildOf = (folder: string) => hash(readFileSync(join(folder, "build.json")));

describe("a document of an earlier build", () => {
  test("is a stale edge, and its age is reported", async () => {
    const folder = mixed({
      "index.html": 1,
      "feed.atom": 0,
      "feed.atom.gz": 0,
      "feed.atom.br": 0,
      "index.html.gz": 1,
      "index.html.br": 1,
    });
    const { exitCode, text } = await verify(project, [folder]);
    expect([exitCode, text]).toEqual([
      7,
      expect.stringMatching(/ is stale: 2 files, up to 2 builds behind, since /),
    ]);
    expect(text).toContain("  feed.atom is what a stale edge serves: 2 builds behind");
    expect(text).toContain("  index.html is what a stale edge serves: 1 build behind");
  });

  test("is converging within the grace", async () => {
    const state = temporaryFolder();
    const { exitCode, stdout } = await verify(
      project,
      [mixed({ "index.html": 1 }), "--grace", "2h", "--json"],
      state,
    );
    expect([exitCode, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({
        verdict: "converging",
        stale: { builds: 1, since: expect.any(String) },
        findings: [expect.objectContaining({ path: "index.html", stale: true })],
      }),
    ]);
  });

  test("hides no tampered document", async () => {
    const folder = mixed({ "index.html": 1 });
    writeFileSync(join(folder, "feed.json"), "{}");
    const { exitCode, text } = await verify(project, [folder, "--grace", "2h"]);
    expect([exitCode, text]).toEqual([6, expect.stringContaining("feed.json is not what was signed")]);
  });

  test("counts only if its metadata has valid signatures", async () => {
    const folder = mixed({ "index.html": 1 });
    for (const version of [1, 2]) {
      const file = join(folder, `metadata/${version}.snapshot.json`);
      writeFileSync(file, readFileSync(file, "utf8").replace(/"sig":"[0-9a-f]{4}/, '"sig":"0000'));
    }
    expect((await verify(project, [folder])).exitCode).toBe(6);
  });
});

test("documents that are newer than the timestamp are being published", async () => {
  const folder = mixed({ "metadata/timestamp.json": 1 });
  const early = await verify(project, [folder, "--grace", "2h"]);
  expect([early.exitCode, early.text]).toEqual([
    0,
    expect.stringContaining(
      "index.html is from a later signing, which metadata/timestamp.json does not lead to yet",
    ),
  ]);
  expect((await verify(project, [folder])).exitCode).toBe(7);
});

describe("--expect", () => {
  const [first, second] = [() => sites[0] ?? "", () => sites[2] ?? ""];

  test("names the build that is live instead", async () => {
    const { exitCode, stdout } = await verify(project, [first(), "--expect", buildOf(second()), "--json"]);
    expect([exitCode, JSON.parse(stdout)]).toEqual([
      7,
      expect.objectContaining({ verdict: "stale", build: buildOf(first()), expected: buildOf(second()) }),
    ]);
  });

  test("verifies a build by the beginning of its id", async () => {
    const { exitCode, text } = await verify(project, [first(), "--expect", buildOf(first()).slice(0, 12)]);
    expect([exitCode, text]).toEqual([0, expect.stringContaining("Verified")]);
    const short = await verify(project, [first(), "--expect", "abc"]);
    expect([short.exitCode, short.text]).toEqual([2, expect.stringContaining("first 12 characters")]);
  });

  test("waits until the build is live, through failures of the network", { tags: ["long"] }, async () => {
    let asked = 0;
    const folder = () => (asked > 2 ? second() : first());
    const url = await host(folder, (path, _request, response) => {
      if (path !== "metadata/timestamp.json" || ++asked > 2) return false;
      response.writeHead(503).end();
      return true;
    });
    const { exitCode, text } = await verify(project, [url, "--expect", buildOf(second()), "--wait", "1m"]);
    expect(text).toMatch(/Waiting for the build [0-9a-f]{12}: .* answered 503/);
    expect([exitCode, text]).toEqual([0, expect.stringContaining(`Verified ${url}`)]);
  });

  test("is required by --wait", async () => {
    const { exitCode, text } = await verify(project, [first(), "--wait", "1m"]);
    expect([exitCode, text]).toEqual([2, expect.stringContaining("--wait needs --expect")]);
  });
});
