/** @module-tag long */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repository } from "../support/run.ts";
import { blocksOf, liveWorld, world } from "./live-site.ts";

const guide = "docs/signing.md";
const text = readFileSync(join(repository, guide), "utf8");

/** The shell blocks below a heading. */
const shell = (heading: string): string[] =>
  blocksOf(guide)
    .filter(({ language, headings }) => language === "sh" && headings.includes(heading))
    .map((block) => block.text);

describe("the guide's shell blocks run unchanged", { tags: ["long"] }, () => {
  test("for the start, after which signing leaves the listed files", async () => {
    const at = await world("folder");
    const { stdout } = await at.follow(`
git clone -q https://git.example.com/releases.git && cd releases && ./build 26.08.001
relcat ingest --release 26.08.001 --job clients --out releases/26.08.001/manifests/clients.json out
relcat cut 26.08.001 --commit
${shell("Begin").join("\n")}
find dist -type f | sort`);
    for (const path of [
      "metadata/1.root.json",
      "metadata/1.targets.json",
      "metadata/1.catalog.json",
      "metadata/1.releases-26.json",
      "metadata/1.releases-26.08.json",
      "metadata/timestamp.json",
      "releases/26.08.001/SHA256SUMS.sig",
      "allowed_signers",
    ])
      expect(stdout.split("\n")).toContain(`dist/${path}`);
    expect(stdout).toMatch(/dist\/targets\/catalog\/[0-9a-f]{64}\.files\.json/);
    expect(stdout).toMatch(/dist\/targets\/releases\/26\.08\.001\/[0-9a-f]{64}\.files\.json/);
  });

  test("for signing package repositories with a key of their own", async () => {
    const at = await liveWorld();
    const { stdout } = await at.follow(
      `echo 'feeds: { apt: { suites: { jammy: "22.04" } }, yum: {} }' >>releases/catalog.yaml
${shell("Sign package repositories").join("\n")}
find dist -type f | sort; relcat status`,
      { cwd: at.clone, env: { RELCAT_ONLINE_KEY: at.key } },
    );
    for (const path of ["dists/jammy/InRelease", "dists/jammy/Release.gpg", "yum/stable.mirrorlist"])
      expect(stdout.split("\n")).toContain(`dist/${path}`);
    expect(stdout).toMatch(/^the OpenPGP key [0-9A-F]{40} has been signing since /m);
  });

  test("for verifying a site and its files, by relcat and by hand, and for refreshing it", async () => {
    const at = await liveWorld();
    const build = createHash("sha256")
      .update(at.live("downloads.example.com", "build.json") ?? "")
      .digest("hex");
    const checks = shell("Verify a site").join("\n").replace("3f80e249e093", build.slice(0, 12));
    expect(checks).toContain(build.slice(0, 12));
    const { stdout } = await at.follow(
      `${checks}
${shell("Download and verify a file").join("\n")}
printf 'rpm of 26.08.001' >tool-26.08.001.rpm
${shell("Verify by hand").join("\n")}
relcat build --released
${shell("Renew signatures").join("\n")}`,
      { cwd: at.clone, env: { RELCAT_ONLINE_KEY: at.key } },
    );
    for (const sentence of [
      "Verified https://downloads.example.com: 2 releases, 4 packages, ",
      "Verified prod: 2 releases, 4 packages, ",
      "Downloaded client.rpm: rpm of 26.09.001, 16 bytes, as signed.",
      "client.rpm is tool-26.09.001.rpm of 26.09.001 (rpm, id ",
      'Good "file" signature for releases@downloads.example.com with ED25519 key ',
      "tool-26.08.001.rpm: OK",
    ])
      expect(stdout).toContain(sentence);
  });
});

test("every shell block of the customers' guide verifies a file without the project", {
  tags: ["long"],
}, async () => {
  const at = await liveWorld();
  const lines = blocksOf("docs/verifying.md").flatMap(({ language, text: block }) =>
    language === "sh" ? [block] : [],
  );
  const { stdout } = await at.succeed(
    `mkdir customer && cp releases/releases/trust/1.root.json customer && cd customer
printf 'rpm of 26.08.001' >tool-26.08.001.rpm
${lines.join("\n")}`,
  );
  for (const sentence of [
    'Good "file" signature for releases@downloads.example.com with ED25519 key ',
    "tool-26.08.001.rpm: OK",
    "tool-26.08.001.rpm is tool-26.08.001.rpm of 26.08.001 (rpm, id ",
    "Downloaded tool-26.09.001.rpm: rpm of 26.09.001, 16 bytes, as signed.",
    "Verified https://downloads.example.com: 2 releases, 4 packages, ",
  ])
    expect(stdout).toContain(sentence);
});

test("the guide links only to existing files", () => {
  for (const [, link = ""] of text.matchAll(/\]\(([^)#:]+)\)/g))
    expect(existsSync(join(repository, "docs", link)), link).toBe(true);
});
