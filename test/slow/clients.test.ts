import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { delimiter, join } from "node:path";
import { execa } from "execa";
import { beforeAll, expect, test } from "vitest";
import { afterFile } from "../support/after-file.ts";
import { aptClient } from "../support/apt-client.ts";
import { certify } from "../support/certify.ts";
import { buildDeb } from "../support/debs.ts";
import { type FeedSite, feedSite, startNginx } from "../support/feed-site.ts";
import { isolatedNetwork } from "../support/network.ts";
import { freePort } from "../support/port.ts";
import { project as relcatProject } from "../support/project.ts";
import { buildRpm } from "../support/rpm-builds.ts";
import { program, repository, temporaryFolder } from "../support/run.ts";
import { dnfClient } from "../support/yum-clients.ts";
import { tufClient } from "../trust/support.ts";

/**
 * mise and Renovate, unmodified, with the configurations of docs/clients.md at a published site and at a copy. mise
 * installs from plain files, and from the signed statements of packslip.
 */

/** `.ci/run` installs the programs, and a Node for Renovate, into the folder RELCAT_CLIENTS. */
const PATH = [process.env.RELCAT_CLIENTS, process.env.PATH].join(delimiter);

/** packslip's name of the site, which has its list at the root of a host. */
const project = "downloads.acme.test";

let site: FeedSite;
let host: { url: string; authority: string };

beforeAll(async () => {
  site = await feedSite({
    trust: "simple",
    feeds: {
      apt: { suites: { bookworm: "12" } },
      yum: {},
      packslip: { project, artifacts: { "linux-tar": { bin: ["tool"] } } },
    },
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
  host = await hostOf(site);
});

/** A host with a certificate, whose root has the list of the site. */
async function hostOf({ url }: FeedSite): Promise<{ url: string; authority: string }> {
  const { authority, certificate, key } = await certify("DNS:localhost");
  const identity = { cert: readFileSync(certificate), key: readFileSync(key) };
  const server = createServer(identity, async (request, response) => {
    const answer = await fetch(url + request.url);
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  afterFile(() => server.close());
  return { url: `https://localhost:${port}/`, authority };
}

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

/** A block of docs/clients.md below a heading, with the names of the site. */
const block = (heading: string): string => {
  const page = readFileSync(join(repository, "docs/clients.md"), "utf8");
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const [, text = ""] = /^```(?:toml|json)\n([\s\S]*?)^```$/m.exec(section) ?? [];
  return text
    .replaceAll("https://downloads.example.com", site.url)
    .replaceAll("downloads.example.com", project);
};

/** The line that users pin, in a file of minisign. */
const keyIn = (file: string): string => readFileSync(file, "utf8").split("\n")[1] ?? "";

interface MiseUser {
  /** Content of mise.lock. */
  lock?: string;
  /** Words before a command. */
  words?: readonly string[];
  /** Backend of mise. */
  backend?: "http" | "packslip";
  /** Key that the user pinned. */
  pinned?: string;
}

/** A project that uses the tool, on a machine of its own. */
function miseUser({ lock = "", words = [], backend = "http", pinned }: MiseUser = {}) {
  const home = temporaryFolder();
  const folder = join(home, "project");
  mkdirSync(folder);
  const key = pinned ?? keyIn(join(site.project.folder, "releases/trust/packslip.pub"));
  const settings = { http: block("mise"), packslip: block("packslip").replace("RWQ…", key) };
  writeFileSync(join(folder, "mise.toml"), settings[backend]);
  writeFileSync(join(folder, "mise.lock"), lock);
  const env = {
    PATH,
    HOME: home,
    MISE_YES: "1",
    MISE_MINIMUM_RELEASE_AGE: "0s",
    MISE_TRUSTED_CONFIG_PATHS: home,
    MISE_URL_REPLACEMENTS: JSON.stringify({ [`https://${project}/`]: host.url }),
    SSL_CERT_FILE: host.authority,
  };
  const run = async (...args: string[]) => {
    const [command = "mise", ...rest] = [...words, "mise", ...args];
    return execa(command, rest, { cwd: folder, env, reject: false });
  };
  return { run, lock: () => readFileSync(join(folder, "mise.lock"), "utf8") };
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
  writeFileSync(join(home, "renovate.json"), block("Renovate"));
  const env = { PATH, HOME: home, RENOVATE_BASE_DIR: home, LOG_FORMAT: "json", LOG_LEVEL: "debug" };
  const { stdout } = await execa("renovate", ["--platform=local", "--dry-run=lookup"], { cwd: home, env });
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  const found = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === "packageFiles with updates");
  const { updates } = found.config.regex[0].deps[0];
  expect(updates).toHaveLength(1);
  return { pendingChecks: undefined, ...updates[0] };
}

test("mise installs the newest release, updates it, and leaves out a withdrawn one", async () => {
  const users = {
    "http:tool": miseUser(),
    [`packslip:${project}`]: miseUser({ backend: "packslip" }),
  };
  for (const { run } of Object.values(users)) {
    expect(await run("install")).toMatchObject({ exitCode: 0 });
    expect((await run("exec", "--", "tool")).stdout).toBe("tool 26.08.010");
  }
  await release("26.09.001");
  await site.publish("openpgp.asc");
  for (const { run } of Object.values(users)) {
    await run("cache", "clear");
    expect(await run("upgrade")).toMatchObject({ exitCode: 0 });
    expect((await run("exec", "--", "tool")).stdout).toBe("tool 26.09.001");
  }
  await withdraw("26.09.001");
  const newest = [];
  for (const [tool, { run }] of Object.entries(users)) {
    await run("cache", "clear");
    newest.push((await run("ls-remote", tool)).stdout.split("\n").at(-1));
  }
  expect(newest).toEqual(["26.08.010", "26.8.10"]);
  const { run } = miseUser({ backend: "packslip" });
  const { exitCode, stderr } = await run("install", `packslip:${project}@26.9.1`);
  expect(stderr).toContain("was withdrawn by the vendor: Loses its settings");
  expect(exitCode).not.toBe(0);
});

/** Runs an action while bytes of the files whose paths match are changed. */
async function whileAltered<T>(pattern: RegExp, action: () => Promise<T>): Promise<T> {
  return whileServed((path, bytes) => {
    // The fifth byte of an archive is one of its time, so that it can still be unpacked.
    const at = path.endsWith(".gz") ? 4 : bytes.length >> 1;
    if (pattern.test(path)) bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes;
  }, action);
}

async function whileServed<T>(change: FeedSite["change"], action: () => Promise<T>): Promise<T> {
  site.change = change;
  try {
    return await action();
  } finally {
    site.change = undefined;
  }
}

async function expectRefused({ run }: ReturnType<typeof miseUser>, cause: RegExp): Promise<void> {
  const { exitCode, stderr } = await run("install");
  expect(stderr).toMatch(cause);
  expect(exitCode).not.toBe(0);
}

test("mise refuses other bytes under the version that its lock file has", async () => {
  const first = miseUser();
  await first.run("install");
  await whileAltered(/\.tar\.gz$/, () =>
    expectRefused(miseUser({ lock: first.lock() }), /checksum mismatch/i),
  );
});

test("with packslip, mise refuses other bytes at the first installation, and each changed statement", async () => {
  const user = () => miseUser({ backend: "packslip" });
  await whileAltered(/\.tar\.gz$/, () => expectRefused(user(), /sha256 is \w+, document says \w+/));
  await whileAltered(/packslip\.sigstore\.json$/, () =>
    expectRefused(user(), /manifest digest differs from signed list/),
  );
  await whileAltered(/packslip\.json$/, () => expectRefused(user(), /verifying the release list/));
});

test("with packslip, mise refuses another key", async () => {
  const keys = join(temporaryFolder(), "keys");
  const other = relcatProject({ "releases/catalog.yaml": { product: "Other" } });
  await other.succeed("trust", "init", keys, "--packslip");
  const pinned = keyIn(join(other.folder, "releases/trust/packslip.pub"));
  await expectRefused(
    miseUser({ backend: "packslip", pinned }),
    /signature does not verify with the pinned key/,
  );
});

test("with packslip, mise refuses a list that is older than the one it has accepted", async () => {
  const path = ".well-known/packslip.json";
  const earlier = Buffer.from(await site.text(path));
  await withdraw("26.08.002");
  const user = miseUser({ backend: "packslip" });
  expect(await user.run("install")).toMatchObject({ exitCode: 0 });
  await user.run("cache", "clear");
  await user.run("uninstall", "--all");
  const older: FeedSite["change"] = (asked, bytes) => (asked === path ? earlier : bytes);
  await whileServed(older, () => expectRefused(user, /sequence \d+, but sequence \d+ was already accepted/));
});

/** Reads targets of TUF as a client that keeps its state: their texts, by the names that are asked for. */
type TufClient = (...names: string[]) => Promise<Record<string, string>>;

const tufClients: Record<string, () => Promise<TufClient>> = {
  "tuf-js": async () => {
    const state = temporaryFolder();
    return async (...names) => {
      const { client } = tufClient(site.url, firstRoot(), state);
      const texts: Record<string, string> = {};
      for (const name of names) {
        const target = await client.getTargetInfo(name);
        if (target) texts[name] = readFileSync(await client.downloadTarget(target), "utf8");
      }
      return texts;
    };
  },
  "python-tuf": async () => {
    const root = await pythonTufRoot();
    mkdirSync(join(root, "state/targets"), { recursive: true });
    // The module for HTTP reads a list of authorities when it is loaded.
    cpSync(host.authority, join(root, "etc/ssl/certs/ca-certificates.crt"));
    cpSync(firstRoot(), join(root, "state/root.json"));
    writeFileSync(join(root, "client.py"), pythonTufClient);
    return async (...names) => {
      const { stdout } = await execa("chroot", [root, "python3", "/client.py", site.url, ...names]);
      return JSON.parse(stdout);
    };
  },
};

const firstRoot = () => join(site.project.folder, "releases/trust/1.root.json");

/** python-tuf 5.1 of Debian 13 in a folder of its own, because Debian 12 has none. */
async function pythonTufRoot(): Promise<string> {
  const root = join(temporaryFolder(), "python-tuf");
  const packages = "--include=base-files,python3-tuf";
  await execa("mmdebstrap", ["--quiet", "--mode=root", "--variant=extract", packages, "trixie", root]);
  return root;
}

const pythonTufClient = `import json, sys
from tuf.ngclient import Updater
url, *names = sys.argv[1:]
client = Updater("/state", url + "/metadata/", "/state/targets", url + "/targets/")
texts = {}
for name in names:
    target = client.get_targetinfo(name)
    if target:
        with open(client.download_target(target)) as file:
            texts[name] = file.read()
print(json.dumps(texts))
`;

/** Changes the first digit of the signature of timestamp.json. */
const withOtherSignature: FeedSite["change"] = (path, bytes) =>
  path === "metadata/timestamp.json"
    ? Buffer.from(bytes.toString().replace(/(?<="sig":")./, (digit) => (digit === "0" ? "1" : "0")))
    : bytes;

test("tuf-js and python-tuf see two releases, a later one and a withdrawal, and refuse changed bytes", async () => {
  const clients = await Promise.all(Object.values(tufClients).map((make) => make()));
  const list = "catalog/versions.json";
  /** SemVer spellings of the versions that are not withdrawn, and the files of one release. */
  const seen = async (read: TufClient, version: string) => {
    const name = `releases/${version}/release.json`;
    const { [list]: versions = "", [name]: release = "{}" } = await read(list, name);
    type Row = { version: string; isDeprecated?: true };
    const rows: Row[] = JSON.parse(versions).releases;
    const files = Object.values<{ file: string }>(JSON.parse(release).artifacts ?? {});
    return {
      newest: rows.findLast(({ isDeprecated }) => !isDeprecated)?.version,
      withdrawn: rows.filter(({ isDeprecated }) => isDeprecated).map((row) => row.version),
      files: files.map(({ file }) => file).sort(),
    };
  };
  const files = (version: string) =>
    [
      `agent-${version}-1.x86_64.rpm`,
      `agent_${version}_amd64.deb`,
      `tool_${version}_linux_amd64.tar.gz`,
    ].sort();
  for (const read of clients)
    expect(await seen(read, "26.08.010")).toMatchObject({ newest: "26.8.10", files: files("26.08.010") });
  await release("26.10.001");
  await site.publish("openpgp.asc");
  for (const read of clients) {
    const target = /targets\/catalog\/.*versions\.json$/;
    await whileAltered(target, () => expect(read(list)).rejects.toThrow(/hash/i));
    await whileServed(withOtherSignature, () => expect(read(list)).rejects.toThrow(/signed by 0\/1 keys/));
    expect(await seen(read, "26.10.001")).toMatchObject({ newest: "26.10.1", files: files("26.10.001") });
  }
  await withdraw("26.10.001");
  for (const read of clients) {
    const { newest, withdrawn } = await seen(read, "26.10.001");
    expect([newest, withdrawn.at(-1)]).toEqual(["26.8.10", "26.10.1"]);
  }
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

  const { run } = miseUser({ words: network });
  expect(await run("install")).toMatchObject({ exitCode: 0 });
  expect((await run("exec", "--", "tool")).stdout).toBe("tool 26.08.010");
  site.before = undefined;
  expect(asked).toEqual([]);

  writeFileSync(file, "other bytes");
  await expect(relcat(copy, "--artifacts")).rejects.toMatchObject({ exitCode: 6 });
});
