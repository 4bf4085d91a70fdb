import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, expect, test } from "vitest";
import { startNginx as startConfiguredNginx } from "../site/hosting/homes/nginx.ts";
import { afterFile } from "../support/after-file.ts";
import { aptClient } from "../support/apt-client.ts";
import { certify } from "../support/certify.ts";
import { buildDeb } from "../support/debs.ts";
import { type FeedSite, feedSite, startNginx } from "../support/feed-site.ts";
import { isolatedNetwork } from "../support/network.ts";
import { freePort } from "../support/port.ts";
import { project as relcatProject } from "../support/project.ts";
import { buildRpm } from "../support/rpm-builds.ts";
import { program, temporaryFolder } from "../support/run.ts";
import {
  type Client,
  clientsOf,
  keyIn,
  miseUser,
  type Place,
  renovate,
  semver,
  tufReaders,
} from "../support/site-clients.ts";
import { dnfClient } from "../support/yum-clients.ts";

/** Ten unmodified clients at one published site and at a copy; mise and Renovate as docs/clients.md configures them. */

let site: FeedSite;
let place: Place;

/** packslip's name of the site, which has its list at the root of a host. */
const project = "downloads.acme.test";

/** Sizes of disks in megabytes, so that each differs. */
let disks = 1;

beforeAll(async () => {
  const catalog = {
    trust: "simple",
    hosts: ["nginx"],
    feeds: {
      apt: { suites: { bookworm: "12" } },
      yum: {},
      helm: { oci: true },
      incus: { os: "acme" },
      packslip: { project, artifacts: { "linux-tar": { bin: ["tool"] } } },
    },
    package_types: {
      "linux-tar": { operating_system: "linux", platform: 17, kind: "client", description: "Archive" },
    },
    ingest: [{ match: "*_linux_amd64.tar.gz", package_type: "linux-tar", arch: "amd64" }],
  } as const;
  site = await feedSite(catalog, "");
  // As text without padding, 10 is lower than 9.
  await release("26.08.002", "--now", "2026-08-02T10:22:31.123456Z");
  await release("26.08.009", "--now", "2026-08-09T10:22:31.123456Z");
  await site.publish("openpgp.asc");
  place = { site, host: await hostOf(site), project };
});

/** A host with a certificate, whose root has the list and the registry of the site. */
async function hostOf({ project }: FeedSite): Promise<{ url: string; authority: string }> {
  const { authority, certificate, key } = await certify("DNS:localhost");
  const www = join(project.folder, "www");
  const { origin, stop } = await startConfiguredNginx(join(www, "current"), join(www, "hosting"));
  afterFile(stop);
  const identity = { cert: readFileSync(certificate), key: readFileSync(key) };
  const server = createServer(identity, async ({ url = "/", method = "GET" }, response) => {
    await site.before?.(url.slice(1));
    const answer = await fetch(origin + url, { method, redirect: "manual" });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const type = answer.headers.get("content-type") ?? "";
    response.writeHead(answer.status, { "content-type": type });
    response.end(site.change?.(url.slice(1), bytes) ?? bytes);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  afterFile(() => server.close());
  return { url: `https://localhost:${port}/`, authority };
}

/** Cuts a release with an archive, a deb, an rpm, a chart and a disk, of which each has bytes of its own. */
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
  const chart = `acme-${semver(version)}.tgz`;
  project.write(`chart-${version}/acme/Chart.yaml`, {
    apiVersion: "v2",
    name: "acme",
    version: semver(version),
  });
  await execa("tar", ["-czf", chart, "-C", `chart-${version}`, "acme"], { cwd: project.folder });
  const disk = `vm-${version}-amd64.qcow2`;
  await execa("qemu-img", ["create", "-q", "-f", "qcow2", disk, `${disks++}M`], { cwd: project.folder });
  project.write(`releases/${version}/release.yaml`, { version, date: "2026-08-19" });
  const files = [file, deb, rpm, chart, disk];
  const manifest = `releases/${version}/manifests/build.json`;
  await project.succeed("ingest", "--release", version, "--out", manifest, ...files);
  await project.succeed("upload", "--site", "test", "--manifest", manifest, ...files);
  await project.succeed("cut", version, ...options);
}

const withdraw = async (version: string) => {
  await site.project.succeed("retract", version, "--reason", "Loses its settings", "--yes");
  await site.publish("openpgp.asc");
};

test("ten clients install the newest release, a later one, and none that is withdrawn or changed", async () => {
  const users = await Promise.all(
    Object.entries(clientsOf(place)).map(async ([name, kind]) => ({ name, kind, client: await kind.make() })),
  );
  expect(users).toHaveLength(10);
  type User = (typeof users)[number];
  const seen = async (some: readonly User[], each: (user: User) => Promise<string>) => {
    const versions: Record<string, string> = {};
    for (const user of some) versions[user.name] = await each(user);
    return versions;
  };
  const all = (some: readonly User[], version: string) =>
    Object.fromEntries(
      some.map(({ name, kind }) => [name, kind.isSemver ? semver(version) : version] as const),
    );
  const install = ({ client }: User) => client.install();
  expect(await seen(users, install)).toEqual(all(users, "26.08.009"));

  await release("26.08.010", "--now", "2026-08-10T10:22:31.123456Z");
  await site.publish("openpgp.asc");
  const refuses = ({ kind: { altered } }: User, client: Client) =>
    altered && whileAltered(altered[0], () => expect(client.install()).rejects.toThrow(altered[1]));
  for (const user of users) if (!user.kind.trustsFirst) await refuses(user, user.client);
  expect(await seen(users, install)).toEqual(all(users, "26.08.010"));
  for (const user of users) await refuses(user, await user.kind.make(user.client));

  await withdraw("26.08.010");
  const following = users.filter(({ kind }) => !kind.keeps);
  expect(await seen(following, ({ client }) => (client.newest ?? client.install)())).toEqual(
    all(following, "26.08.009"),
  );
  expect(await seen(users, async ({ kind }) => (await kind.make()).install())).toEqual(
    all(users, "26.08.009"),
  );
});

test("Renovate waits until a release is old enough, and finds none that is withdrawn", async () => {
  await release("26.09.001");
  await site.publish("openpgp.asc");
  expect(await renovate(place)).toMatchObject({
    newValue: "26.8.9",
    releaseTimestamp: "2026-08-09T10:22:31.000Z",
    pendingChecks: undefined,
  });
  await withdraw("26.08.009");
  expect(await renovate(place)).toMatchObject({ newValue: "26.9.1", pendingChecks: true });
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

test("with packslip, mise refuses changed statements", async () => {
  const user = () => miseUser(place, { backend: "packslip" });
  await whileAltered(/packslip\.sigstore\.json$/, () =>
    expect(user().install()).rejects.toThrow(/manifest digest differs from signed list/),
  );
  await whileAltered(/packslip\.json$/, () =>
    expect(user().install()).rejects.toThrow(/verifying the release list/),
  );
});

test("with packslip, mise refuses another key", async () => {
  const other = relcatProject({ "releases/catalog.yaml": { product: "Other" } });
  await other.succeed("trust", "init", join(temporaryFolder(), "keys"), "--packslip");
  const user = miseUser(place, { backend: "packslip", pinned: keyIn(other.folder) });
  await expect(user.install()).rejects.toThrow(/signature does not verify with the pinned key/);
});

test("with packslip, mise refuses a list that is older than the one it has accepted", async () => {
  const path = ".well-known/packslip.json";
  const earlier = Buffer.from(await site.text(path));
  await withdraw("26.08.002");
  const user = miseUser(place, { backend: "packslip" });
  await user.install();
  await user.run("uninstall", "--all");
  const older: FeedSite["change"] = (asked, bytes) => (asked === path ? earlier : bytes);
  await whileServed(older, () =>
    expect(user.install()).rejects.toThrow(/sequence \d+, but sequence \d+ was already accepted/),
  );
});

test("with packslip, mise says why it does not install a withdrawn version", async () => {
  const user = miseUser(place, { backend: "packslip" });
  await expect(user.run("install", `packslip:${project}@26.8.10`)).rejects.toThrow(
    "was withdrawn by the vendor: Loses its settings",
  );
});

/** Changes the first digit of the signature of timestamp.json. */
const withOtherSignature: FeedSite["change"] = (path, bytes) =>
  path === "metadata/timestamp.json"
    ? Buffer.from(bytes.toString().replace(/(?<="sig":")./, (digit) => (digit === "0" ? "1" : "0")))
    : bytes;

test.each(["tuf-js", "python-tuf"] as const)("%s refuses a changed signature", async (name) => {
  const read = await tufReaders[name](place);
  await whileServed(withOtherSignature, () =>
    expect(read("catalog/versions.json")).rejects.toThrow(/signed by 0\/1 keys/),
  );
});

test("a copy of the site is verified and installed from in a network without the internet", async () => {
  const copy = join(temporaryFolder(), "site");
  cpSync(join(site.project.folder, "www/current"), copy, { recursive: true, dereference: true });
  const network = await isolatedNetwork();
  const inside = (...words: string[]) => execa(network[0], [...network.slice(1), ...words]);
  const asked: string[] = [];
  site.before = async (path) => void asked.push(path);

  const root = join(site.project.folder, "releases/trust/1.root.json");
  const file = join(copy, "files/26.09.001/tool_26.09.001_linux_amd64.tar.gz");
  const relcat = (...args: string[]) =>
    inside(process.execPath, program, "verify", ...args, "--root", root, "--trust-dir", temporaryFolder());
  expect((await relcat(copy, "--artifacts")).stdout).toMatch(/downloads are what was signed\./);
  expect((await relcat(file, "--from", copy)).stdout).toContain("of 26.09.001 (linux-tar");

  await startNginx(copy, { port: Number(new URL(site.url).port), base: "", words: network });
  const apt = aptClient();
  apt.use(readFileSync(join(copy, "acme-bookworm.sources"), "utf8"));
  for (const args of [["update"], ["install", "agent"]]) {
    const { exitCode, output } = await apt.run(network[0], ...network.slice(1), "apt-get", ...args);
    expect(exitCode, output).toBe(0);
  }
  expect(await apt.installed("agent")).toBe("26.09.001");

  const dnf = dnfClient();
  dnf.use(readFileSync(join(copy, "acme-stable.repo"), "utf8"));
  await inside(...dnf.command, "install", "agent");
  expect(await dnf.installed()).toEqual(["agent-26.09.001.x86_64"]);

  expect(await miseUser(place, { words: network }).install()).toBe("26.09.001");
  site.before = undefined;
  expect(asked).toEqual([]);

  writeFileSync(file, "other bytes");
  await expect(relcat(copy, "--artifacts")).rejects.toMatchObject({ exitCode: 6 });
});
