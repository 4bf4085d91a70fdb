import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { execa } from "execa";
import { beforeAll, expect, test } from "vitest";
import { aptClient } from "../support/apt-client.ts";
import { buildDeb } from "../support/debs.ts";
import { type FeedSite, feedSite, startNginx } from "../support/feed-site.ts";
import { isolatedNetwork } from "../support/network.ts";
import { buildRpm } from "../support/rpm-builds.ts";
import { program, repository, temporaryFolder } from "../support/run.ts";
import { dnfClient } from "../support/yum-clients.ts";

/** mise and Renovate, unmodified, with the configurations of docs/clients.md at a published site and at a copy. */

/** `.ci/run` installs the programs, and a Node for Renovate, into the folder RELCAT_CLIENTS. */
const PATH = [process.env.RELCAT_CLIENTS, process.env.PATH].join(delimiter);

let site: FeedSite;

beforeAll(async () => {
  site = await feedSite({
    trust: "simple",
    feeds: { apt: { suites: { bookworm: "12" } }, yum: {} },
    package_types: {
      "linux-tar": { operating_system: "linux", platform: 17, kind: "client", description: "Archive" },
    },
    ingest: [{ match: "*_linux_amd64.tar.gz", package_type: "linux-tar", arch: "amd64" }],
  });
  // As text without padding, 10 is lower than 9.
  for (const [version, day] of [
    ["26.08.002", "02"],
    ["26.08.009", "09"],
  ] as const)
    await release(version, "--now", `2026-08-${day}T10:22:31.123456Z`);
  await release("26.08.010");
  await site.publish("openpgp.asc");
});

/** A release with an archive, a deb and an rpm. */
async function release(version: string, ...options: string[]): Promise<void> {
  const { project } = site;
  const file = `tool_${version}_linux_amd64.tar.gz`;
  project.write(`content-${version}/tool`, `#!/bin/sh\necho tool ${version}\n`);
  await execa("tar", ["-czf", file, "--mode=755", "-C", `content-${version}`, "tool"], {
    cwd: project.folder,
  });
  const own = { name: "agent", version };
  const deb = await buildDeb(temporaryFolder(), { ...own, file: `agent_${version}_amd64.deb` });
  const rpm = await buildRpm(temporaryFolder(), {
    ...own,
    arch: "x86_64",
    files: { "/usr/bin/agent": version },
  });
  project.write(`releases/${version}/release.yaml`, { version, date: "2026-08-19" });
  const manifest = `releases/${version}/manifests/build.json`;
  await project.succeed("ingest", "--release", version, "--out", manifest, file, deb, rpm);
  await project.succeed("upload", "--site", "test", "--manifest", manifest, file, deb, rpm);
  await project.succeed("cut", version, ...options);
}

const withdraw = async (version: string) => {
  await site.project.succeed("retract", version, "--reason", "Loses its settings", "--yes");
  await site.publish("openpgp.asc");
};

/** A block of docs/clients.md with the address of the site. */
const block = (language: string): string => {
  const page = readFileSync(join(repository, "docs/clients.md"), "utf8");
  const [, text = ""] = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "m").exec(page) ?? [];
  return text.replaceAll("https://downloads.example.com", site.url);
};

/** A project that uses the tool, on a machine of its own. @param lock content of mise.lock */
function miseUser(lock = "", words: readonly string[] = []) {
  const home = temporaryFolder();
  const project = join(home, "project");
  mkdirSync(project);
  writeFileSync(join(project, "mise.toml"), block("toml"));
  writeFileSync(join(project, "mise.lock"), lock);
  const env = { PATH, HOME: home, MISE_YES: "1", MISE_TRUSTED_CONFIG_PATHS: home };
  const run = (...args: string[]) => {
    const [command = "mise", ...rest] = [...words, "mise", ...args];
    return execa(command, rest, { cwd: project, env, reject: false });
  };
  return { run, lock: () => readFileSync(join(project, "mise.lock"), "utf8") };
}

test("Renovate finds the newest release that is old enough, and none that is withdrawn", async () => {
  expect(await renovate()).toMatchObject({
    newValue: "26.8.9",
    releaseTimestamp: "2026-08-09T10:22:31.000Z",
    pendingChecks: undefined,
  });
  await withdraw("26.08.009");
  expect(await renovate()).toMatchObject({ newValue: "26.8.10", pendingChecks: true });
});

/** The update that Renovate finds for 26.8.2. */
async function renovate(): Promise<unknown> {
  const home = temporaryFolder();
  writeFileSync(join(home, "Dockerfile"), "ENV TOOL_VERSION=26.8.2\n");
  writeFileSync(join(home, "renovate.json"), block("json"));
  const env = { PATH, HOME: home, RENOVATE_BASE_DIR: home, LOG_FORMAT: "json", LOG_LEVEL: "debug" };
  const { stdout } = await execa("renovate", ["--platform=local", "--dry-run=lookup"], { cwd: home, env });
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  const found = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === "packageFiles with updates");
  const { updates } = found.config.regex[0].deps[0];
  expect(updates).toHaveLength(1);
  return { pendingChecks: undefined, ...updates[0] };
}

test("mise installs the newest release, updates it, and leaves out a withdrawn one", async () => {
  const { run } = miseUser();
  expect(await run("install")).toMatchObject({ exitCode: 0 });
  expect((await run("exec", "--", "tool")).stdout).toBe("tool 26.08.010");
  await release("26.09.001");
  await site.publish("openpgp.asc");
  await run("cache", "clear");
  expect(await run("upgrade")).toMatchObject({ exitCode: 0 });
  expect((await run("exec", "--", "tool")).stdout).toBe("tool 26.09.001");
  await withdraw("26.09.001");
  await run("cache", "clear");
  const listed = (await run("ls-remote", "http:tool")).stdout.split("\n");
  expect(listed.at(-1)).toBe("26.08.010");
});

test("mise refuses other bytes under the version that its lock file has", async () => {
  const first = miseUser();
  await first.run("install");
  site.change = (path, bytes) => {
    if (path.endsWith(".tar.gz")) bytes[4] = (bytes[4] ?? 0) ^ 1;
    return bytes;
  };
  const { exitCode, stderr } = await miseUser(first.lock()).run("install");
  site.change = undefined;
  expect(stderr).toMatch(/checksum mismatch/i);
  expect(exitCode).not.toBe(0);
});

test("a copy of the site is verified and installed from in a network without the internet", async () => {
  const copy = join(temporaryFolder(), "site");
  cpSync(join(site.project.folder, "www/current"), copy, { recursive: true, dereference: true });
  const network = await isolatedNetwork();
  const inside = (...words: string[]) => execa(network[0], [...network.slice(1), ...words]);
  const asked: string[] = [];
  site.before = async (path) => void asked.push(path);

  const root = join(site.project.folder, "releases/trust/1.root.json");
  const file = join(copy, "files/26.08.010/tool_26.08.010_linux_amd64.tar.gz");
  const relcat = (...args: string[]) =>
    inside(process.execPath, program, "verify", ...args, "--root", root, "--trust-dir", temporaryFolder());
  expect((await relcat(copy, "--artifacts")).stdout).toMatch(/downloads are what was signed\./);
  expect((await relcat(file, "--from", copy)).stdout).toContain("of 26.08.010 (linux-tar");

  await startNginx(copy, Number(new URL(site.url).port), network);
  const apt = aptClient();
  apt.use(readFileSync(join(copy, "acme-bookworm.sources"), "utf8"));
  for (const args of [["update"], ["install", "agent"]]) {
    const { exitCode, output } = await apt.run(network[0], ...network.slice(1), "apt-get", ...args);
    expect(exitCode, output).toBe(0);
  }
  expect(await apt.installed("agent")).toBe("26.08.010");

  const dnf = dnfClient();
  dnf.use(readFileSync(join(copy, "acme-stable.repo"), "utf8"));
  await inside(...dnf.command, "install", "agent");
  expect(await dnf.installed()).toEqual(["agent-26.08.010.x86_64"]);

  const { run } = miseUser("", network);
  expect(await run("install")).toMatchObject({ exitCode: 0 });
  expect((await run("exec", "--", "tool")).stdout).toBe("tool 26.08.010");
  site.before = undefined;
  expect(asked).toEqual([]);

  writeFileSync(file, "other bytes");
  await expect(relcat(copy, "--artifacts")).rejects.toMatchObject({ exitCode: 6 });
});
