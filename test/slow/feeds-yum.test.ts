import { hash } from "node:crypto";
import { globSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { certificateTitle } from "../../pipeline/documents/feeds/keys.ts";
import { armored } from "../../shared/openpgp-armor.ts";
import { type FeedSite, feedSite, idOf } from "../support/feed-site.ts";
import { note } from "../support/project.ts";
import { buildRpm, type RpmSpec } from "../support/rpm-builds.ts";
import { temporaryFolder } from "../support/run.ts";
import { newSigner, rpmsign } from "../support/stock-packages.ts";
import { dnfClient, type YumClient, zypperClient, zypperRoot } from "../support/yum-clients.ts";

/** Debian's dnf and zypper at a published site. */

let host: string;
const clients = {
  dnf: (options?: { arch: string }) => dnfClient(options),
  zypper: (options?: { arch: string }) => zypperClient(host, options),
};
type Name = keyof typeof clients;
const names: readonly Name[] = ["dnf", "zypper"];

async function rpm(spec: Partial<RpmSpec> & { version: string }): Promise<string> {
  const top = join(temporaryFolder(), "rpm");
  mkdirSync(top);
  return buildRpm(top, {
    name: "agent",
    arch: "noarch",
    files: { "/usr/bin/agent": spec.version },
    ...spec,
  });
}

const changelogOf = (version: string) =>
  `%changelog\n* Wed Aug 19 2026 Dév <dev@acme.example> - ${version}\n- Change of ${version}\n  in two lines\n`;

/** A new machine with the settings of a site's repository. */
async function machine(name: Name, at: FeedSite, options?: { arch: string }): Promise<YumClient> {
  const client = clients[name](options);
  client.use(await at.text("acme-stable.repo"));
  return client;
}

/** Runs an action while the site's answers are changed. */
async function whileChanged<T>(
  at: FeedSite,
  change: (path: string, bytes: Buffer) => Buffer,
  action: () => Promise<T>,
): Promise<T> {
  at.change = change;
  try {
    return await action();
  } finally {
    at.change = undefined;
  }
}

function altered(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.length >> 1;
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** Alters the files whose paths match. */
const altering = (pattern: RegExp) => (path: string, bytes: Buffer) =>
  pattern.test(path) ? altered(bytes) : bytes;

const unsigned = (path: string, bytes: Buffer) => (path.endsWith("repomd.xml.asc") ? Buffer.alloc(0) : bytes);

async function expectRefused(client: YumClient, ...args: readonly string[]): Promise<void> {
  const { exitCode, output } = await client.run(...args);
  expect(exitCode, output).not.toBe(0);
}

/** Locations of packages in the index of a repository, which may be the one that a client stored. */
function locationsIn(folder: string): string[] {
  const [file = ""] = globSync("**/repodata/*primary.xml.gz", { cwd: folder });
  const xml = gunzipSync(readFileSync(join(folder, file))).toString();
  return Array.from(xml.matchAll(/<location ([^>]*)\/>/g), ([, attributes = ""]) => attributes).sort();
}

/** Answers as earlier versions wrote them: relative locations of packages, and a mirrorlist of one line. */
async function earlierForm(at: FeedSite): Promise<(path: string, bytes: Buffer) => Buffer> {
  const repomd = await at.text("yum/stable/repodata/repomd.xml");
  const [, file = ""] = /"repodata\/([0-9a-f]{64}-primary\.xml\.gz)"/.exec(repomd) ?? [];
  const packed = await (await fetch(`${at.url}/yum/stable/repodata/${file}`)).arrayBuffer();
  const xml = gunzipSync(packed).toString().replaceAll(`xml:base="${at.url}/" href="`, 'href="../../');
  const earlier = gzipSync(xml);
  const index = repomd.replace(/(?<=type="primary")[\s\S]*?<\/data>/, (data) =>
    data
      .replace(/(<checksum[^>]*>)[^<]*/, `$1${hash("sha256", earlier)}`)
      .replace(/(<open-checksum[^>]*>)[^<]*/, `$1${hash("sha256", xml)}`)
      .replace(/(<size>)[^<]*/, `$1${earlier.length}`)
      .replace(/(<open-size>)[^<]*/, `$1${Buffer.byteLength(xml)}`),
  );
  return (path, bytes) => {
    if (path.endsWith(".mirrorlist")) return Buffer.from(`${String(bytes).split("\n")[0]}\n`);
    if (path.endsWith("/repomd.xml")) return Buffer.from(index);
    return path.endsWith(file) ? earlier : bytes;
  };
}

beforeAll(async () => {
  host = await zypperRoot();
});

describe("at an unsigned site", () => {
  let site: FeedSite;
  const agents = new Map<string, string>();
  beforeAll(async () => {
    const preamble = ["Requires: tool++ >= 1~rc1"];
    for (const version of ["26.8.1", "26.8.2", "26.9.1"])
      agents.set(version, await rpm({ version, preamble, sections: changelogOf(version) }));
    const tools = ["x86_64", "aarch64"].map((arch) =>
      rpm({ name: "tool++", version: "1~rc1^git2", arch, files: { [`/opt/tool ${arch}`]: arch } }),
    );
    site = await feedSite({ feeds: { yum: { changelogs: true } } });
    await site.release("26.08.001", [agents.get("26.8.1") ?? "", ...(await Promise.all(tools))]);
    const fixed = note("A crafted packet stopped the agent.", { security: true, refs: ["CVE-2026-12345"] });
    site.project.write("releases/26.08.002/notes/fix.yaml", fixed);
    const security = { id: "ACME-2026-001", cve: ["CVE-2026-54321"], severity: "high" };
    site.project.write("releases/26.08.002/notes/other.yaml", note("It leaked a key.", { security }));
    await site.release("26.08.002", [agents.get("26.8.2") ?? ""]);
    await site.publish();
  });

  describe.each(names)("%s", (name) => {
    test("lists every version, and takes the package of its architecture", async () => {
      const client = await machine(name, site);
      await client.succeed(...client.refresh);
      const listed = await client.succeed(...client.list);
      expect(listed).toMatch(/26\.8\.1/);
      expect(listed).toMatch(/26\.8\.2/);
      expect(await client.succeed(...client.download("tool++"))).toMatch(/tool\+\+.*x86_64/);
      const arm = await machine(name, site, { arch: "aarch64" });
      expect(await arm.succeed(...arm.download("tool++"))).toMatch(/tool\+\+.*aarch64/);
    });

    test("installs the newest version with what it requires", async () => {
      const client = await machine(name, site);
      await client.succeed("install", "agent");
      expect(await client.installed()).toEqual(["agent-26.8.2.noarch", "tool++-1~rc1^git2.x86_64"]);
    });

    test("installs the version that was asked for, names its security update, and upgrades", async () => {
      const client = await machine(name, site);
      await client.succeed(...client.pinned("agent", "26.8.1"));
      expect(await client.installed()).toContain("agent-26.8.1.noarch");
      expect(await client.succeed(...client.advisories)).toMatch(/acme-26\.08\.002/);
      expect(await client.succeed(...client.advisoriesOf("CVE-2026-12345"))).toMatch(/acme-26\.08\.002/);
      expect(await client.succeed(...client.advisories)).toMatch(/ACME-2026-001.*important/i);
      expect(await client.succeed(...client.advisoriesOf("CVE-2026-54321"))).toMatch(/ACME-2026-001/);
      expect(await client.succeed(...client.advisoriesOf("CVE-2026-99999"))).not.toMatch(/acme/i);
      await client.succeed(...client.upgrade);
      expect(await client.installed()).toContain("agent-26.8.2.noarch");
      expect(await client.succeed(...client.advisories)).not.toMatch(/acme-2/i);
    });

    test("refuses an index and a package that were changed", async () => {
      const client = await machine(name, site);
      await whileChanged(site, altering(/primary\.xml\.gz$/), () => expectRefused(client, ...client.refresh));
      await client.succeed(...client.refresh);
      await whileChanged(site, altering(/agent.*\.rpm$/), () => expectRefused(client, "install", "agent"));
      expect((await client.installed()).filter((installed) => installed.startsWith("agent"))).toEqual([]);
    });
  });

  test.each(names)("%s keeps downloaded packages in the cache of the repository", async (name) => {
    const client = await machine(name, site);
    await client.succeed(...client.download("tool++"));
    const rpms = () => globSync("**/*.rpm", { cwd: client.cache });
    expect(rpms()).toEqual([expect.stringMatching(/^(?:packages\/)?acme-stable.*\/tool\+\+.*\.rpm$/)]);
    await client.succeed("clean", name === "dnf" ? "all" : "--all");
    expect(rpms()).toEqual([]);
  });

  test("dnf shows changelogs", async () => {
    const client = await machine("dnf", site);
    const expected = /Dév <dev@acme\.example> - 26\.8\.2\n- Change of 26\.8\.2\n {2}in two lines/;
    expect(await client.succeed("changelog", "agent")).toMatch(expected);
    expect(await client.succeed("repoquery", "--changelogs", "agent")).toMatch(expected);
  });

  test("dnf reposync copies the repository, and createrepo_c writes indexes of the copy", async () => {
    const client = await machine("dnf", site);
    const [top, merged] = [temporaryFolder(), join(temporaryFolder(), "merged")];
    await client.succeed("reposync", "--repoid=acme-stable", "--download-metadata", `--download-path=${top}`);
    const mirror = join(top, "acme-stable");
    const copied = globSync("**/*.rpm", { cwd: mirror }).sort();
    expect(copied.map((path) => path.replace(/[^/]*$/, ""))).toEqual([
      ...["files/26.08.001/", "files/26.08.001/", "files/26.08.001/", "files/26.08.002/"],
    ]);
    const base = `${site.url}/`;
    expect(locationsIn(mirror)).toEqual(copied.map((path) => `xml:base="${base}" href="${path}"`));
    await execa("mergerepo_c", ["--no-database", "--all", "-r", `file://${mirror}`, "-o", merged]);
    expect(locationsIn(merged)).toEqual(copied.map((path) => `xml:base="${base}" href="${path}"`));
    await execa("createrepo_c", ["--quiet", "--no-database", "--update", mirror]);
    expect(locationsIn(mirror).map((text) => decodeURIComponent(text))).toEqual(
      copied.map((path) => `href="${path}"`),
    );
    const offline = clients.dnf();
    offline.use(`[mirror]\nname=mirror\nbaseurl=file://${mirror}/\ngpgcheck=0\n`);
    const refuse = (path: string) => Promise.reject(new Error(`${path} was read from the site`));
    site.before = refuse;
    try {
      await offline.succeed("install", "agent");
    } finally {
      site.before = undefined;
    }
    expect(await offline.installed()).toContain("agent-26.8.2.noarch");
  });

  test.each(names)("%s changes from the form of an earlier version at the next publish", async (name) => {
    const client = await machine(name, site);
    await whileChanged(site, await earlierForm(site), async () => client.succeed(...client.refresh));
    expect(locationsIn(client.cache)[0]).toMatch(/^href="\.\.\/\.\.\/files\//);
    await client.succeed(...client.pinned("agent", "26.8.1"));
    await client.succeed(...client.refresh);
    expect(locationsIn(client.cache)[0]).toContain(`xml:base="${site.url}/" href="files/`);
    await client.succeed(...client.upgrade);
    expect(await client.installed()).toContain("agent-26.8.2.noarch");
  });

  test("a withdrawn version is listed no longer, and nothing is downgraded unless asked to", async () => {
    await site.release("26.09.001", [agents.get("26.9.1") ?? ""]);
    await site.publish();
    const machines = await Promise.all(names.map((name) => machine(name, site)));
    for (const client of machines) {
      await client.succeed("install", "agent");
      expect(await client.installed()).toContain("agent-26.9.1.noarch");
    }
    const id = await idOf(site, basename(agents.get("26.9.1") ?? ""));
    await site.project.succeed("retract", `${id}`, "--reason", "Loses its settings.", "--yes");
    await site.publish();
    for (const client of machines) {
      await client.succeed(...client.refresh);
      await client.succeed(...client.upgrade);
      expect(await client.installed()).toContain("agent-26.9.1.noarch");
      await client.succeed(...client.downgrade("agent", "26.8.2"));
      expect(await client.installed()).toContain("agent-26.8.2.noarch");
      expect(await client.succeed(...client.upgrade)).not.toContain("26.9.1");
    }
  });
});

describe("at a site with signed rpms", () => {
  let site: FeedSite;
  let stranger: Buffer;
  beforeAll(async () => {
    const signer = () => newSigner(join(temporaryFolder(), "home"), "rsa3072");
    const [builder, other] = [await signer(), await signer()];
    stranger = Buffer.from(armored(certificateTitle, other.certificate));
    site = await feedSite({ feeds: { yum: {} }, signers: [{ file: "signers/builder.asc" }] });
    site.project.write("releases/signers/builder.asc", armored(certificateTitle, builder.certificate));
    const file = await rpm({ version: "26.8.1" });
    await rpmsign(file, builder);
    await site.release("26.08.001", [file]);
    await site.publish();
  });

  test.each(names)(
    "%s accepts them under the certificate that the site offers, and no other",
    async (name) => {
      expect(await site.text("acme-stable.repo")).toContain("\ngpgcheck=1\n");
      const client = await machine(name, site);
      const forged = (path: string, bytes: Buffer) => (path.startsWith("keys/") ? stranger : bytes);
      await whileChanged(site, forged, () => expectRefused(client, "install", "agent"));
      expect(await client.installed()).toEqual([]);
      await client.succeed("install", "agent");
      expect(await client.installed()).toEqual(["agent-26.8.1.noarch"]);
    },
  );
});

describe("at a signed site", () => {
  const [oldKey, newKey] = ["openpgp.asc", "openpgp-v2.asc"];
  let site: FeedSite;
  beforeAll(async () => {
    site = await feedSite({ trust: "simple", feeds: { yum: {} } });
    await site.release("26.08.001", [await rpm({ version: "26.8.1" })]);
    await site.publish(oldKey);
  });

  describe.each(names)("%s", (name) => {
    test("installs with the site's key", async () => {
      expect(await site.text("acme-stable.repo")).toContain("\nrepo_gpgcheck=1\n");
      const client = await machine(name, site);
      await client.succeed("install", "agent");
      expect(await client.installed()).toEqual(["agent-26.8.1.noarch"]);
    });

    test("refuses an index that was changed, and a signature that was changed or is missing", async () => {
      const client = await machine(name, site);
      await client.succeed(...client.refresh);
      for (const change of [altering(/repomd\.xml$/), altering(/repomd\.xml\.asc$/), unsigned])
        await whileChanged(site, change, () => expectRefused(client, ...client.refresh));
      await client.succeed(...client.refresh);
    });
  });

  test.each<[Name, string, string]>([
    ["dnf", "26.09.001", "26.9.1"],
    ["zypper", "26.09.002", "26.9.2"],
  ])(
    "%s reads one state of the repository while another one is published",
    async (name, release, version) => {
      await site.release(release, [await rpm({ version })]);
      const client = await machine(name, site);
      const folders: (string | undefined)[] = [];
      site.before = async (path) => {
        if (!path.includes("/repodata/")) return;
        folders.push(path.split("/")[1]);
        if (folders.length === 1) await site.publish(oldKey);
      };
      try {
        await client.succeed(...client.refresh);
      } finally {
        site.before = undefined;
      }
      expect(folders.length).toBeGreaterThan(2);
      expect(new Set(folders).size).toBe(1);
      await client.succeed(...client.refresh);
      expect(await client.succeed(...client.list)).toContain(version);
    },
  );

  test("a withdrawn version is listed no longer, and a changed package is refused", async () => {
    await site.release("26.09.003", [await rpm({ version: "26.9.3" })]);
    await site.publish(oldKey);
    const machines = await Promise.all(names.map((name) => machine(name, site)));
    for (const client of machines) {
      await client.succeed(...client.refresh);
      await whileChanged(site, altering(/agent-26\.9\.3.*\.rpm$/), () =>
        expectRefused(client, "install", "agent"),
      );
      expect(await client.installed()).toEqual([]);
      expect(await client.succeed(...client.list)).toContain("26.9.3");
    }
    await site.project.succeed("retract", "26.09.003", "--reason", "Loses its settings.", "--yes");
    await site.publish(oldKey);
    for (const client of machines) {
      await client.succeed(...client.refresh);
      expect(await client.succeed(...client.list)).not.toContain("26.9.3");
      await client.succeed("install", "agent");
      expect(await client.installed()).toEqual(["agent-26.9.2.noarch"]);
    }
  });

  test("a new key replaces the old one in three steps, and no machine is locked out on the way", async () => {
    const oldCertificate = Buffer.from(await site.text("keys/acme.asc"));
    /** Machines that get to know no other key, whatever the site offers. */
    const offeringOld = (path: string, bytes: Buffer) => (path === "keys/acme.asc" ? oldCertificate : bytes);
    const machines = () => Promise.all(names.map((name) => machine(name, site)));
    const old = await machines();
    const refresh = async (all: readonly YumClient[]) => {
      for (const client of all) await client.succeed(...client.refresh);
    };
    const refreshOld = () => whileChanged(site, offeringOld, () => refresh(old));
    await refreshOld();
    await site.trust("rotate", "openpgp", "--step", "announce", "--keys", "keys");
    await site.publish(oldKey);
    const warned = await machines();
    await refresh(warned);
    await site.trust("rotate", "openpgp", "--step", "sign");
    await site.publish(oldKey, newKey);
    await refreshOld();
    await refresh(await machines());
    await site.trust("rotate", "openpgp", "--step", "retire");
    await site.publish(newKey);
    await refresh([...warned, ...(await machines())]);
    await whileChanged(site, offeringOld, async () => {
      for (const client of old) await expectRefused(client, ...client.refresh);
    });
  });
});
