/** @module-tag long */
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { publishSteps } from "../../pipeline/documents/publish-turn.ts";
import { repository } from "../support/run.ts";
import { blocksOf, liveWorld, placed, world } from "./live-site.ts";

/** The limits that docs/promises.md states. */
test("only a client without history accepts an older signed state", {
  tags: ["long"],
}, async () => {
  const at = await liveWorld();
  const site = join(at.srv, "downloads");
  const [older = ""] = JSON.parse(readFileSync(join(site, "current.json"), "utf8"))
    .history.map(({ files }: { files: string }) => files)
    .slice(1);
  const verify = (folder: string, state: string) =>
    at.sh(`relcat verify '${folder}' --root releases/trust/1.root.json --trust-dir ~/${state}`, {
      cwd: at.clone,
    });
  const shown = join(at.home, "shown");
  cpSync(realpathSync(join(site, "current")), shown, { recursive: true, verbatimSymlinks: true });
  expect((await verify(shown, "seen")).exitCode).toBe(0);
  rmSync(shown, { recursive: true });
  cpSync(join(site, "builds", older), shown, { recursive: true, verbatimSymlinks: true });
  expect((await verify(shown, "nothing")).exitCode).toBe(0);
  expect((await verify(shown, "seen")).exitCode).toBeGreaterThanOrEqual(6);
});

test("verify notices deleted files, and publish a changed current.json", { tags: ["long"] }, async () => {
  const at = await liveWorld();
  const site = join(at.srv, "downloads");
  rmSync(join(site, "current/feed.atom"));
  const verified = await at.sh("relcat verify prod", { cwd: at.clone });
  expect([verified.exitCode, verified.stderr]).toEqual([
    6,
    expect.stringContaining("feed.atom is missing (404)"),
  ]);
  writeFileSync(join(site, "current.json"), "{}");
  const published = await at.sh("relcat publish prod", { cwd: at.clone, env: { RELCAT_ONLINE_KEY: at.key } });
  expect([published.exitCode, published.stderr]).toEqual([
    6,
    expect.stringContaining("error[site-tampered]"),
  ]);
});

test("current.json and state/ of a bucket are readable, and name no private record", {
  tags: ["long"],
}, async () => {
  const at = await world("bucket");
  const clone = join(at.folder, "releases");
  const sites =
    blocksOf("docs/publishing.md").find(({ headings }) => headings.includes("A bucket"))?.text ?? "";
  await at.succeed("git clone -q https://git.example.com/releases.git");
  const artifact = { package_type: "rpm", sha256: "a".repeat(64), exclude_from_api: true };
  mkdirSync(join(clone, "releases/26.08.001/manifests"));
  writeFileSync(
    join(clone, "releases/26.08.001/manifests/all.json"),
    JSON.stringify({ release: "26.08.001", artifacts: [{ ...artifact, name: "secret-name.rpm" }] }),
  );
  writeFileSync(join(clone, "releases/catalog.yaml"), `product: Example\nrequire: {}\n${placed(sites, at)}`);
  await at.succeed(
    "git add releases; git commit -qm Sites; relcat cut --all --commit; git push -q; relcat build --released --site prod; relcat publish prod",
    {
      cwd: clone,
    },
  );
  const own = [...at.bucket.bucket.objects].filter(([key]) => /\/(current\.json$|state\/)/.test(key));
  expect(own.length).toBeGreaterThan(2);
  for (const [key, { bytes }] of own) {
    const text = (key.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
    expect(text, key).not.toContain("secret-name");
    expect(text, key).not.toContain("a".repeat(64));
  }
  expect(JSON.parse(at.live("downloads.example.com", "current.json") ?? "")).toMatchObject({
    ledger_high: { lines: 0 },
    publisher: expect.stringContaining("@"),
  });
});

const promises = readFileSync(join(repository, "docs/promises.md"), "utf8");

test("docs/promises.md names existing tests", () => {
  const named = [...promises.matchAll(/\[test\]\(\.\.\/([^)]+)\)/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(50);
  expect(promises.match(/\[test\]\(/g)).toHaveLength(named.length);
  for (const path of named)
    expect(readdirSync(join(repository, path, "..")), path).toContain(path.split("/").at(-1));
});

test("docs/promises.md names the steps at which a publisher can be stopped", () => {
  for (const [place, steps] of [
    ["folder", publishSteps.dir],
    ["bucket", publishSteps.s3],
  ] as const) {
    const [, listed = ""] = new RegExp(`- In a ${place}: ([^.]*)\\.`).exec(promises) ?? [];
    expect(listed.match(/(?<=`)[a-z-]+(?=`)/g)).toEqual(steps);
  }
});

test("SECURITY.md names the address for reports, the supported versions and each subject of the promises", () => {
  const security = readFileSync(join(repository, "SECURITY.md"), "utf8");
  expect(security.split("\n").length - 1).toBeLessThanOrEqual(25);
  expect(security).toMatch(/security@[\w.-]+/);
  expect(security).toContain("## Supported versions");
  const headings = [...promises.matchAll(/^## (.*)$/gm)].map(([, heading = ""]) =>
    heading.toLowerCase().replaceAll(" ", "-"),
  );
  expect(headings.length).toBeGreaterThan(5);
  expect([...security.matchAll(/docs\/promises\.md#([\w-]+)/g)].map(([, anchor]) => anchor)).toEqual(
    headings,
  );
});
