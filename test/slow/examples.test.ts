import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { execa } from "execa";
import { expect, test } from "vitest";
import { aptClient } from "../support/apt-client.ts";
import { offeredFiles, runExample } from "../support/examples.ts";

test("the GoReleaser example is built and published by its README", async () => {
  const example = await runExample("goreleaser");
  const archive = (os: string, arch: string) => `tool_26.11.001_${os}_${arch}.tar.gz`;
  expect(offeredFiles(example)).toEqual([
    ...["amd64", "arm64"].map((arch) => `deb ${arch} tool_26.11.001_${arch}.deb`),
    ...["amd64", "arm64"].map((arch) => `linux-tar ${arch} ${archive("linux", arch)}`),
    ...["amd64", "arm64"].map((arch) => `macos-tar ${arch} ${archive("darwin", arch)}`),
    ...["amd64", "arm64"].map((arch) => `windows-tar ${arch} ${archive("windows", arch)}`),
  ]);
  const name = archive("linux", "amd64");
  const { stdout } = await execa(
    "tar",
    ["xzf", join(example.folder, "site/current/files/26.11.001", name), "-O"],
    {
      cwd: example.folder,
    },
  );
  expect(stdout).toContain("tool 26.11.001 for linux/amd64");
});

test("the example of a Linux agent is a repository that apt installs from, and lists the rpms of each architecture", async () => {
  const example = await runExample("linux-agent");
  const archs = ["amd64", "arm64", "armhf"];
  expect(offeredFiles(example)).toEqual([
    ...archs.flatMap((arch) =>
      ["bookworm", "jammy"].map((suite) => `deb ${arch} agent_26.11.001_${suite}_${arch}.deb`),
    ),
    "rpm amd64 agent-26.11.001-1.x86_64.rpm",
    "rpm arm64 agent-26.11.001-1.aarch64.rpm",
  ]);
  expect(example.stdout).toMatch(/^Verified site: 1 release, 8 packages, \d+ files are what was signed\.$/m);

  for (const [suite, architecture, version] of [
    ["bookworm", "amd64", "26.11.001-1~deb12"],
    ["jammy", "armhf", "26.11.001-1~ubuntu22.04"],
  ] as const) {
    const apt = aptClient({ architecture });
    const here = `file:${example.folder}/site/current/`;
    apt.use(example.live(`agent-${suite}.sources`).replace(/^(URIs: ).*$/m, `$1${here}`));
    await apt.get("update");
    await apt.get("install", "agent");
    expect(await apt.installed("agent")).toBe(version);
    expect(readFileSync(join(apt.root, "usr/bin/agent"), "utf8")).toContain("agent 26.11.001");
  }

  const index = example.live("yum/stable/repodata/repomd.xml");
  const primary = /href="(repodata\/\S*primary\.xml\.gz)"/.exec(index)?.[1] ?? "";
  const text = gunzipSync(readFileSync(join(example.folder, "site/current/yum/stable", primary))).toString();
  expect([...text.matchAll(/<arch>(\w+)</g)].map(([, arch]) => arch).sort()).toEqual(["aarch64", "x86_64"]);
});
