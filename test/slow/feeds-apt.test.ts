import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { type AptClient, aptClient } from "../support/apt-client.ts";
import { type AptSite, aptSite } from "../support/apt-site.ts";
import { temporaryFolder } from "../support/run.ts";

/** Debian's apt, dpkg and mirror programs against a published site behind nginx. */
let site: AptSite;

/** Signed an hour apart, because dates in Release have whole seconds. */
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

beforeAll(async () => {
  site = await aptSite(["first", "second", "withdrawn", "provisional"], {
    feeds: { apt: { suites: { focal: "20.04", jammy: "22.04" }, valid_days: 1 } },
  });
  await site.release("26.08.001", [
    { name: "tool", version: "1.0", fields: ["Depends: tool-docs (>= 1.0)"], set: ["min_os_version=22.04"] },
    { name: "tool", version: "1.0", arch: "arm64", fields: ["Source:"], set: ["min_os_version=22.04"] },
    { name: "tool", version: "1.0~focal", set: ["max_os_version=20.04"] },
    { name: "tool-docs", version: "1.0", arch: "all" },
  ]);
  await site.run("cut", "--all");
  await site.run("build", "--released");
  await site.run("sign", "--now", hoursAgo(48));
  // Nothing publishes it now, so this is a site that no one renewed.
  cpSync(join(site.folder, "dist"), join(site.folder, "expired/current"), { recursive: true });
  await site.publish("first", hoursAgo(3));
  await site.release("26.09.001", [{ name: "tool", version: "1.1", set: ["min_os_version=22.04"] }]);
  await site.run("cut", "--all");
  await site.publish("second", hoursAgo(2));
  await site.run("retract", "5", "--reason", "Loses its settings", "--yes");
  await site.publish("withdrawn", hoursAgo(1));
  await site.release("26.09.002", [{ name: "tool", version: "1.2", set: ["min_os_version=22.04"] }]);
  await site.run("build", "--out", "open");
  await site.run("publish", "provisional", "--out", "open");
}, 120_000);

/** A machine that uses a suite as its .sources file says. */
function machine(state: string, suite = "jammy", options: Parameters<typeof aptClient>[0] = {}): AptClient {
  site.show(state);
  const client = aptClient(options);
  // Before apt 2.3.10 a .sources file names a key file, which its comment says how to fetch.
  const keyrings = join(client.root, "etc/apt/keyrings");
  mkdirSync(keyrings);
  writeFileSync(join(keyrings, "acme.asc"), site.read("keys/acme.asc"));
  client.use(site.read(`acme-${suite}.sources`).replaceAll("/etc/apt/keyrings", keyrings));
  return client;
}

const installedVersion = (client: AptClient, name: string) =>
  readFileSync(join(client.root, "usr/share", name, "version"), "utf8").trim();

/** The versions of a package that a machine may choose from. */
async function versionsOf(client: AptClient, name: string): Promise<string[]> {
  const { output } = await client.run("apt-cache", "madison", name);
  return output.split("\n").flatMap((line) => line.split("|")[1]?.trim() ?? []);
}

describe("a machine", () => {
  test("installs a package with what it depends on, and gets the next release as an upgrade", async () => {
    const client = machine("first");
    await client.get("update");
    await client.get("install", "tool");
    expect([await client.installed("tool"), await client.installed("tool-docs")]).toEqual(["1.0", "1.0"]);
    expect(installedVersion(client, "tool")).toBe("1.0");
    site.show("second");
    await client.get("update");
    await client.get("upgrade");
    expect([await client.installed("tool"), installedVersion(client, "tool")]).toEqual(["1.1", "1.1"]);
  });

  test("can install an older version, stays at it under a pin, and is not downgraded unasked", async () => {
    const client = machine("second");
    await client.get("update");
    await client.get("install", "tool=1.0");
    writeFileSync(
      join(client.root, "etc/apt/preferences.d/tool"),
      "Package: tool\nPin: version 1.0\nPin-Priority: 990\n",
    );
    await client.get("upgrade");
    expect(await client.installed("tool")).toBe("1.0");
    await client.get("install", "tool=1.1");
    const { exitCode, output } = await client.run("apt-get", "install", "tool=1.0");
    expect([exitCode, output]).toEqual([100, expect.stringContaining("--allow-downgrades")]);
    expect(await client.installed("tool")).toBe("1.1");
  });

  test("is not offered a withdrawn version, and keeps the one that it has", async () => {
    const client = machine("second");
    await client.get("update");
    await client.get("install", "tool");
    expect(await versionsOf(client, "tool")).toEqual(["1.1", "1.0"]);
    site.show("withdrawn");
    await client.get("update");
    expect(await versionsOf(client, "tool")).toEqual(["1.0"]);
    await client.get("dist-upgrade");
    expect(await client.installed("tool")).toBe("1.1");
  });

  test("sees the debs of its suite and its architectures", async () => {
    const focal = machine("first", "focal");
    await focal.get("update");
    expect(await versionsOf(focal, "tool")).toEqual(["1.0~focal"]);
    const arm = machine("first", "jammy", { architecture: "arm64" });
    await arm.get("update");
    await arm.get("install", "--download-only", "tool", "tool-docs");
    const both = machine("first", "jammy", { foreign: ["arm64"] });
    await both.get("update");
    await both.get("install", "--download-only", "tool:arm64");
  });

  test("upgrades by itself what Origin and Suite select", async () => {
    const settings = ['Unattended-Upgrade::Origins-Pattern { "origin=Acme,suite=jammy"; };'];
    const client = machine("first", "jammy", { settings });
    await client.get("update");
    await client.get("install", "tool");
    site.show("second");
    await client.get("update");
    // unattended-upgrade looks below / only, so it gets a view of the machine in which that is the client's.
    const views = ["etc/apt", "var/lib/apt", "var/cache/apt", "var/lib/dpkg"].map(
      (path) => `mount --bind ${client.root}/${path} /${path}`,
    );
    const command = [...views, "exec unattended-upgrade --dry-run --verbose"].join(" && ");
    const { output } = await client.run("unshare", "--mount", "sh", "-c", command);
    expect(output).toContain("Packages that will be upgraded: tool");
  });
});

test("a site with open releases has a repository that says that nothing signs it", async () => {
  const client = machine("provisional");
  expect(site.read("acme-jammy.sources")).toContain("\nTrusted: yes\n");
  expect(await client.get("update")).not.toMatch(/^[WE]:/m);
  await client.get("install", "tool");
  expect(await client.installed("tool")).toBe("1.2");
  // apt ignores an index with an earlier date than the one that it has.
  rmSync(join(site.folder, "releases/26.09.002"), { recursive: true });
  await site.run("build", "--out", "open");
  await site.run("publish", "provisional", "--out", "open");
  expect(await client.get("update")).not.toMatch(/^[WE]:/m);
  expect(await versionsOf(client, "tool")).toEqual(["1.0"]);
});

describe("apt refuses", () => {
  test("an index with other bytes", async () => {
    const client = machine("first");
    const release = site.read("dists/jammy/InRelease");
    const [, sha256 = ""] = /^ (\S+) \d+ main\/binary-amd64\/Packages\.xz$/m.exec(release) ?? [];
    const path = `dists/jammy/main/binary-amd64/by-hash/SHA256/${sha256}`;
    const { exitCode, output } = await changed(path, () => client.run("apt-get", "update"));
    expect([exitCode, output]).toEqual([100, expect.stringContaining("Hash Sum mismatch")]);
  });

  test("a package with other bytes", async () => {
    const client = machine("first");
    await client.get("update");
    const path = "files/26.08.001/tool-docs_1.0_all.deb";
    const { exitCode, output } = await changed(path, () => client.run("apt-get", "install", "tool-docs"));
    expect([exitCode, output]).toEqual([100, expect.stringContaining("Hash Sum mismatch")]);
    expect(await client.installed("tool-docs")).toBeUndefined();
  });

  test("an InRelease with other text", async () => {
    const client = machine("first");
    const { exitCode, output } = await changed("dists/jammy/InRelease", () =>
      client.run("apt-get", "update"),
    );
    expect([exitCode, output]).toEqual([100, expect.stringMatching(/signature|signed/)]);
  });

  test("a repository that another key signed", async () => {
    const home = temporaryFolder();
    const gpg = (...args: string[]) => execa("gpg", ["--homedir", home, "--batch", ...args]);
    await gpg("--passphrase", "", "--quick-gen-key", "Other <other@example.com>", "ed25519", "sign");
    const { stdout } = await gpg("--armor", "--export");
    const client = machine("first");
    const inline = stdout
      .trim()
      .split("\n")
      .map((line) => ` ${line || "."}`);
    client.use(
      site.read("acme-jammy.sources").replace(/Signed-By:.*/s, `Signed-By:\n${inline.join("\n")}\n`),
    );
    const { exitCode, output } = await client.run("apt-get", "update");
    expect([exitCode, output]).toEqual([100, expect.stringContaining("NO_PUBKEY")]);
  });

  test("an index that is past its time", async () => {
    const { exitCode, output } = await machine("expired").run("apt-get", "update");
    expect([exitCode, output]).toEqual([100, expect.stringContaining("is expired")]);
  });

  test("an index that is older than the one it has, without a word", async () => {
    const client = machine("second");
    await client.get("update");
    site.show("first");
    await client.get("update");
    expect(await versionsOf(client, "tool")).toEqual(["1.1", "1.0"]);
  });
});

/** Runs something while a served file has another byte. */
async function changed<T>(path: string, run: () => Promise<T>): Promise<T> {
  const file = join(site.folder, "served", path);
  const bytes = readFileSync(file);
  const other = Buffer.from(bytes);
  const middle = other.length >> 1;
  other[middle] = (other[middle] ?? 0) ^ 1;
  writeFileSync(file, other);
  try {
    return await run();
  } finally {
    writeFileSync(file, bytes);
  }
}

describe("other readers", () => {
  test("aptly mirrors a suite", async () => {
    site.show("second");
    const home = temporaryFolder();
    const config = join(home, "aptly.conf");
    writeFileSync(config, JSON.stringify({ rootDir: join(home, "aptly"), gpgProvider: "internal" }));
    writeFileSync(join(home, "acme.asc"), site.read("keys/acme.asc"));
    const aptly = (...args: string[]) => execa("aptly", [`-config=${config}`, ...args], { all: true });
    const keyring = `-keyring=${await dearmored(join(home, "acme.asc"))}`;
    await aptly("mirror", "create", keyring, "acme", `${site.url}/`, "jammy", "main");
    await aptly("mirror", "update", keyring, "acme");
    const { stdout } = await aptly("mirror", "show", "-with-packages", "acme");
    expect(
      stdout
        .match(/^ {2}tool\S*_\S+$/gm)
        ?.map((line) => line.trim())
        .sort(),
    ).toEqual(["tool-docs_1.0_all", "tool_1.0_amd64", "tool_1.0_arm64", "tool_1.1_amd64"]);
  });

  test("reprepro mirrors a suite, of which a deb has an empty field", async () => {
    site.show("second");
    const home = temporaryFolder();
    mkdirSync(join(home, "conf"));
    const distribution = [
      "Codename: jammy",
      "Architectures: amd64 arm64",
      "Components: main",
      "Update: acme",
    ];
    const update = ["Name: acme", `Method: ${site.url}`, "VerifyRelease: blindtrust"];
    writeFileSync(join(home, "conf/distributions"), `${distribution.join("\n")}\n`);
    writeFileSync(join(home, "conf/updates"), `${update.join("\n")}\n`);
    await execa("reprepro", ["--basedir", home, "update"]);
    const { stdout } = await execa("reprepro", ["--basedir", home, "list", "jammy", "tool"]);
    expect(stdout.split("\n").sort()).toEqual(["jammy|main|amd64: tool 1.1", "jammy|main|arm64: tool 1.0"]);
  });

  test("debmirror mirrors a suite", async () => {
    site.show("second");
    const home = temporaryFolder();
    writeFileSync(join(home, "acme.asc"), site.read("keys/acme.asc"));
    const { host, pathname } = new URL(site.url);
    await execa("debmirror", [
      join(home, "mirror"),
      ...["--method=http", `--host=${host}`, `--root=${pathname.slice(1)}`, "--dist=jammy", "--section=main"],
      ...["--arch=amd64,arm64", "--nosource", "--diff=none", "--rsync-extra=none"],
      `--keyring=${await dearmored(join(home, "acme.asc"))}`,
    ]);
    for (const path of ["26.08.001/tool_1.0_arm64.deb", "26.09.001/tool_1.1_amd64.deb"])
      expect(readFileSync(join(home, "mirror/files", path))).toEqual(
        readFileSync(join(site.folder, "debs", path)),
      );
  });
});

async function dearmored(file: string): Promise<string> {
  await execa("gpg", ["--batch", "--yes", "--dearmor", file]);
  return `${file}.gpg`;
}
