import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { attributeOf, elementsOf, wordsOf } from "../site/pages/factory.ts";
import { type AptClient, aptClient } from "../support/apt-client.ts";
import { buildDeb } from "../support/debs.ts";
import { freePort } from "../support/port.ts";
import { project } from "../support/project.ts";
import { buildRpm } from "../support/rpm-builds.ts";
import { relcat, repository, temporaryFolder } from "../support/run.ts";
import { dnfClient, type YumClient, zypperClient, zypperRoot } from "../support/yum-clients.ts";
import { serveFiles } from "../trust/support.ts";

/** The lines of docs/feeds.md and of pages, pasted on machines with Debian's apt, dnf and zypper, at a signed site. */

const guide = readFileSync(join(repository, "docs/feeds.md"), "utf8");
const address = "https://downloads.example.com";
const versions = ["26.08.002", "26.09.001"];

let url: string;
let dist: string;

/** A fenced block of the guide, from the line that begins with `start` up to the next comment. */
function blockOf(language: string, start: string): string {
  const blocks = [...guide.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)];
  const [, indent = "", , text = ""] =
    blocks.find(([, , name, content]) => name === language && content?.includes(start)) ?? [];
  const lines = text.split("\n").map((line) => line.slice(indent.length));
  const rest = lines.slice(lines.indexOf(start) + 1);
  const end = rest.findIndex((line) => line.startsWith("#"));
  return rest.slice(0, end < 0 ? rest.length : end).join("\n");
}

/** Packages acme-client of a release. @returns their paths */
async function packagesOf(version: string): Promise<string[]> {
  const own = version.replace(/\.0*/g, ".");
  const deb = { name: "acme-client", version: `${own}-1`, file: `acme-client_${version}_amd64.deb` };
  const top = join(temporaryFolder(), "rpm");
  mkdirSync(top);
  const files = { "/usr/share/acme/version": own };
  const rpm = await buildRpm(top, { name: "acme-client", version: own, arch: "x86_64", files });
  return [await buildDeb(temporaryFolder(), deb), rpm];
}

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const head = `product: Acme\nbase_url: ${url}\nrequire: {}\ntrust: simple\n`;
  const { folder } = project({
    "releases/catalog.yaml": head + blockOf("yaml", "# releases/catalog.yaml"),
    ...Object.fromEntries(
      versions.map((version) => [
        `releases/${version}/release.yaml`,
        { version, date: `20${version.slice(0, 5).replace(".", "-")}-15` },
      ]),
    ),
  });
  dist = join(folder, "dist");
  const secrets: Record<string, string> = {};
  const run = async (...args: string[]) => {
    const { exitCode, stderr } = await relcat(folder, args, { env: secrets });
    expect(exitCode, stderr).toBe(0);
  };
  await run("trust", "init", "keys");
  await run("trust", "init", "keys", "--openpgp");
  secrets.RELCAT_ONLINE_KEY = readFileSync(join(folder, "keys/online.pem"), "utf8");
  secrets.RELCAT_OPENPGP_KEY = readFileSync(join(folder, "keys/openpgp.asc"), "utf8");
  const packages = await Promise.all(versions.map(packagesOf));
  for (const [index, version] of versions.entries()) {
    const [deb = "", rpm = ""] = packages[index] ?? [];
    await run("ingest", "--release", version, "--job", "deb", "--set", "min_os_version=22.04", deb);
    await run("ingest", "--release", version, "--job", "rpm", rpm);
  }
  await run("cut", "--all");
  await run("build", "--released");
  await run("sign");
  for (const [index, version] of versions.entries()) {
    mkdirSync(join(dist, "files", version), { recursive: true });
    for (const path of packages[index] ?? [])
      copyFileSync(path, join(dist, "files", version, basename(path)));
  }
  await serveFiles(dist, port);
}, 120_000);

/** Pastes lines on a machine with apt. @returns the installed version */
async function onDebian(client: AptClient, lines: string): Promise<string | undefined> {
  const own = lines.replaceAll(address, url).replaceAll("/etc/apt/", `${client.root}/etc/apt/`);
  const { exitCode, output } = await client.run("bash", "-ec", `sudo() { "$@"; }\n${own}`);
  expect(exitCode, output).toBe(0);
  return client.installed("acme-client");
}

/** Pastes lines on a machine with dnf. @returns the installed packages */
async function onFedora(client: YumClient, lines: string): Promise<string[]> {
  const own = lines.replaceAll(address, url).replaceAll("/etc/yum.repos.d", client.repos);
  const script = join(temporaryFolder(), "lines");
  const dnf = client.command.map((word) => `'${word}'`).join(" ");
  writeFileSync(script, `sudo() { "$@"; }\ndnf() { command ${dnf} "$@"; }\n${own}\n`);
  const { exitCode, output } = await aptClient().run("bash", "-e", script);
  expect(exitCode, output).toBe(0);
  return client.installed();
}

/** A command of the guide in the middle of a text. */
const inText = (start: string): string =>
  /`([^`]+)`/.exec(guide.slice(guide.indexOf(`\`${start}`)))?.[1] ?? "";

/** The lines on the page of a release, for apt or dnf, of each suite or repository. */
function fromPage(version: string, program: string): string[] {
  const html = readFileSync(join(dist, "releases", version, "index.html"), "utf8");
  const codes = elementsOf(html, "code");
  const copied = codes.filter((code) => attributeOf(code, "data-copy")?.startsWith("lines of "));
  return copied.map(wordsOf).filter((lines) => lines.includes(`${program} install `));
}

describe("on a machine with apt", () => {
  test("the guide's lines install the newest version", async () => {
    expect(await onDebian(aptClient(), blockOf("sh", "# Debian and Ubuntu"))).toBe("26.9.1-1");
  });

  test("the guide's line for one version installs it, and an upgrade leads to the newest one", async () => {
    const client = aptClient();
    const [setUp = ""] = blockOf("sh", "# Debian and Ubuntu").split("\n");
    const wanted = inText("apt-get install acme-client=");
    expect(await onDebian(client, `${setUp}\napt-get update\n${wanted}`)).toBe("26.8.2-1");
    expect(await onDebian(client, "apt-get upgrade")).toBe("26.9.1-1");
  });

  test("the lines of each suite on a release's page install its version", async () => {
    const installed = async (version: string) => {
      const found: (string | undefined)[] = [];
      for (const lines of fromPage(version, "apt-get")) found.push(await onDebian(aptClient(), lines));
      return found;
    };
    expect(await installed("26.08.002")).toEqual(["26.8.2-1", "26.8.2-1"]);
    expect(await installed("26.09.001")).toEqual(["26.9.1-1", "26.9.1-1"]);
  });
});

describe("on a machine with dnf", () => {
  test("the guide's lines install the newest version", async () => {
    expect(await onFedora(dnfClient(), blockOf("sh", "# Fedora, RHEL"))).toEqual([
      "acme-client-26.9.1.x86_64",
    ]);
  });

  test("the guide's line for one version installs it, and an upgrade leads to the newest one", async () => {
    const client = dnfClient();
    const [setUp = ""] = blockOf("sh", "# Fedora, RHEL").split("\n");
    const wanted = inText("dnf install acme-client-");
    expect(await onFedora(client, `${setUp}\n${wanted}`)).toEqual(["acme-client-26.8.2.x86_64"]);
    expect(await onFedora(client, "dnf upgrade")).toEqual(["acme-client-26.9.1.x86_64"]);
  });

  test("the lines on a release's page install its version", async () => {
    const [lines = "", ...others] = fromPage("26.08.002", "dnf");
    expect(await onFedora(dnfClient(), lines)).toEqual(["acme-client-26.8.2.x86_64"]);
    expect(others).toEqual([]);
  });
});

test("the guide's lines for SUSE install the newest version", async () => {
  const client = zypperClient(await zypperRoot());
  const lines = blockOf("sh", "# SUSE").trim().split("\n");
  expect(lines.map((line) => line.split(" ", 2).join(" "))).toEqual(["zypper addrepo", "zypper install"]);
  for (const line of lines) {
    const [, ...words] = line.replaceAll(address, url).split(" ");
    await client.succeed(...words);
  }
  expect(await client.installed()).toEqual(["acme-client-26.9.1.x86_64"]);
}, 120_000);
