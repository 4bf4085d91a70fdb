import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { certificateTitle } from "../../pipeline/documents/feed-keys.ts";
import { armored } from "../../pipeline/documents/openpgp-armor.ts";
import { type FeedSite, feedSite, idOf } from "../support/feed-site.ts";
import { note } from "../support/project.ts";
import { buildRpm, type RpmSpec } from "../support/rpm-builds.ts";
import { temporaryFolder } from "../support/run.ts";
import { newSigner, rpmsign } from "../support/stock-packages.ts";
import { dnfClient, type YumClient, zypperClient, zypperRoot } from "../support/yum-clients.ts";

/** Debian's dnf and zypper at a published site. */

let host: string;

interface Words {
  make(): YumClient;
  arm(): YumClient;
  pinned(version: string): string[];
  downgrade(version: string): string[];
  upgrade: string[];
  versions: string[];
  download: string[];
  advisories: string[];
  byCve(cve: string): string[];
  /** Options that accept new keys. */
  importing: string[];
}

const dnf: Words = {
  make: () => dnfClient(),
  arm: () => dnfClient("--forcearch=aarch64"),
  pinned: (version) => ["install", `agent-${version}`],
  downgrade: (version) => ["downgrade", `agent-${version}`],
  upgrade: ["upgrade"],
  versions: ["repoquery", "--qf", "%{name}-%{version}.%{arch}"],
  download: ["install", "--downloadonly"],
  advisories: ["updateinfo", "list", "--security"],
  byCve: (cve) => ["updateinfo", "list", "--all", "--cve", cve],
  importing: [],
};

const zypper: Words = {
  make: () => zypperClient(host),
  arm: () => zypperClient(host, "arch = aarch64"),
  pinned: (version) => ["install", `agent=${version}`],
  downgrade: (version) => ["install", "--oldpackage", `agent=${version}`],
  upgrade: ["update"],
  versions: ["search", "--details", "--type", "package"],
  download: ["install", "--download-only"],
  advisories: ["list-patches", "--category", "security"],
  byCve: (cve) => ["list-patches", "--all", `--cve=${cve}`],
  importing: ["--gpg-auto-import-keys"],
};

const clients = { dnf, zypper };
const names = ["dnf", "zypper"] as const;

async function rpm(spec: Partial<RpmSpec> & { version: string }): Promise<string> {
  const top = join(temporaryFolder(), "rpm");
  mkdirSync(top);
  return buildRpm(top, { name: "agent", arch: "noarch", files: { "/usr/bin/agent": spec.version }, ...spec });
}

const signer = () => newSigner(join(temporaryFolder(), "home"), "rsa3072");

let site: FeedSite;
let settings: string;
const agents = new Map<string, string>();

beforeAll(async () => {
  const needs = { preamble: ["Requires: tool++ >= 1~rc1"] };
  const root = zypperRoot();
  for (const version of ["26.8.1", "26.8.2", "26.9.1"]) agents.set(version, await rpm({ version, ...needs }));
  const tools = ["x86_64", "aarch64"].map((arch) =>
    rpm({ name: "tool++", version: "1~rc1^git2", arch, files: { [`/opt/tool ${arch}`]: arch } }),
  );
  site = await feedSite({ feeds: { yum: {} } });
  await site.release("26.08.001", [agents.get("26.8.1") ?? "", ...(await Promise.all(tools))]);
  const fixed = note("A crafted packet stopped the agent.", { security: true, refs: ["CVE-2026-12345"] });
  site.project.write("releases/26.08.002/notes/fix.yaml", fixed);
  await site.release("26.08.002", [agents.get("26.8.2") ?? ""]);
  await site.publish();
  settings = await site.text("acme-stable.repo");
  host = await root;
});

/** A machine with the repository's settings. */
function machine({ make }: Pick<Words, "make">): YumClient {
  const client = make();
  client.use(settings);
  return client;
}

describe.each(names)("%s at an unsigned site", (name) => {
  const words = clients[name];

  test("lists every version, and takes the package of its architecture", async () => {
    const client = machine(words);
    expect((await client.refresh()).exitCode).toBe(0);
    const output = await client.succeed(...words.versions);
    expect(output).toMatch(/26\.8\.1/);
    expect(output).toMatch(/26\.8\.2/);
    expect(await client.succeed(...words.download, "tool++")).toMatch(/tool\+\+.*x86_64/);
    const arm = machine({ make: words.arm });
    expect(await arm.succeed(...words.download, "tool++")).toMatch(/tool\+\+.*aarch64/);
  });

  test("installs the newest version with what it requires", async () => {
    const client = machine(words);
    await client.succeed("install", "agent");
    expect(await client.installed()).toEqual(["agent-26.8.2.noarch", "tool++-1~rc1^git2.x86_64"]);
  });

  test("installs the version that was asked for, names its security update, and upgrades", async () => {
    const client = machine(words);
    await client.succeed(...words.pinned("26.8.1"));
    expect(await client.installed()).toContain("agent-26.8.1.noarch");
    expect(await client.succeed(...words.advisories)).toMatch(/acme-26\.08\.002/);
    expect(await client.succeed(...words.byCve("CVE-2026-12345"))).toMatch(/acme-26\.08\.002/);
    expect(await client.succeed(...words.byCve("CVE-2026-99999"))).not.toMatch(/acme-26\.08\.002/);
    await client.succeed(...words.upgrade);
    expect(await client.installed()).toContain("agent-26.8.2.noarch");
    expect(await client.succeed(...words.advisories)).not.toMatch(/acme-26\.08\.002/);
  });

  test("refuses an index that was tampered with", async () => {
    site.change = (path, bytes) => (path.includes("primary.xml.gz") ? altered(bytes) : bytes);
    try {
      const { exitCode, output } = await machine(words).refresh();
      expect(exitCode, output).not.toBe(0);
    } finally {
      site.change = undefined;
    }
  });

  test("refuses a package that was tampered with", async () => {
    const client = machine(words);
    site.change = (path, bytes) => (path.endsWith(".noarch.rpm") ? altered(bytes) : bytes);
    try {
      const { exitCode, output } = await client.run("install", "agent");
      expect(exitCode, output).not.toBe(0);
      expect((await client.installed()).filter((name) => name.startsWith("agent"))).toEqual([]);
    } finally {
      site.change = undefined;
    }
  });
});

function altered(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.length - 20;
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

describe("a site with signed rpms", () => {
  let signed: FeedSite;
  let other: Buffer;
  beforeAll(async () => {
    const [builder, stranger] = [await signer(), await signer()];
    other = Buffer.from(armored(certificateTitle, stranger.certificate));
    signed = await feedSite({ feeds: { yum: {} }, signers: [{ file: "signers/builder.asc" }] });
    signed.project.write("releases/signers/builder.asc", armored(certificateTitle, builder.certificate));
    const file = await rpm({ version: "26.8.1" });
    await rpmsign(file, builder);
    await signed.release("26.08.001", [file]);
    await signed.publish();
  });

  test.each(names)(
    "%s accepts them under the certificate that the site offers, and under no other",
    async (name) => {
      const text = await signed.text("acme-stable.repo");
      expect(text).toContain("\ngpgcheck=1\n");
      const client = clients[name].make();
      client.use(text);
      const install = [...clients[name].importing, "install", "agent"];
      signed.change = (path, bytes) => (path.startsWith("keys/") ? other : bytes);
      const { exitCode, output } = await client.run(...install);
      expect(exitCode, output).not.toBe(0);
      signed.change = undefined;
      expect(await client.installed()).toEqual([]);
      await client.succeed(...install);
      expect(await client.installed()).toEqual(["agent-26.8.1.noarch"]);
    },
  );
});

describe("after a version was withdrawn", () => {
  const machines = new Map<string, YumClient>();
  beforeAll(async () => {
    await site.release("26.09.001", [agents.get("26.9.1") ?? ""]);
    await site.publish();
    for (const name of names) {
      const client = machine(clients[name]);
      await client.succeed("install", "agent");
      expect(await client.installed()).toContain("agent-26.9.1.noarch");
      machines.set(name, client);
    }
    const id = await idOf(site, basename(agents.get("26.9.1") ?? ""));
    await site.project.succeed("retract", `${id}`, "--reason", "Loses its settings.", "--yes");
    await site.publish();
  });

  test.each(names)("%s lists it no longer, and downgrades only if asked to", async (name) => {
    const client = machines.get(name) as YumClient;
    const words = clients[name];
    expect((await client.refresh()).exitCode).toBe(0);
    const fresh = machine(words);
    expect(await fresh.succeed(...words.versions)).not.toMatch(/26\.9\.1/);
    await client.succeed(...words.upgrade);
    expect(await client.installed()).toContain("agent-26.9.1.noarch");
    await client.succeed(...words.downgrade("26.8.2"));
    expect(await client.installed()).toContain("agent-26.8.2.noarch");
  });
});
