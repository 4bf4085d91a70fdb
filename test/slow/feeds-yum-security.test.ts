import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type FeedSite, feedSite } from "../support/feed-site.ts";
import { note } from "../support/project.ts";
import { buildRpm } from "../support/rpm-builds.ts";
import { temporaryFolder } from "../support/run.ts";
import { dnfClient, type YumClient } from "../support/yum-clients.ts";

/** dnf's security updates at a site whose notes describe vulnerabilities. */

let site: FeedSite;

const rpm = (name: string, version: string): Promise<string> => {
  const top = join(temporaryFolder(), "rpm");
  mkdirSync(top);
  return buildRpm(top, { name, version, arch: "noarch", files: { [`/usr/bin/${name}`]: version } });
};

/** @param packages by name, with their version @param notes of the release */
async function release(
  version: string,
  packages: Readonly<Record<string, string>>,
  notes: readonly object[] = [],
) {
  const files = await Promise.all(Object.entries(packages).map(([name, each]) => rpm(name, each)));
  for (const [index, each] of notes.entries())
    site.project.write(`releases/${version}/notes/${index}.yaml`, each);
  await site.release(version, files);
}

const advisory = (id: string, cve: readonly string[], severity: string) =>
  note(`Fixes ${id}.`, { security: { id, cve, severity } });

beforeAll(async () => {
  site = await feedSite({ feeds: { yum: {} } });
  await release("26.08.001", { agent: "1", tool: "1", other: "1" });
  const fixes = [
    advisory("ACME-1", ["CVE-2026-1001", "CVE-2026-1002"], "critical"),
    advisory("ACME-2", [], "low"),
  ];
  await release("26.08.002", { agent: "2" }, fixes);
  await release("26.08.003", { agent: "3", other: "3" });
  await release("26.08.004", { tool: "4" }, [note("Fixed.", { security: true, refs: ["CVE-2026-1003"] })]);
  await site.publish();
});

/** A machine on which the first release is installed. */
async function machine(): Promise<YumClient> {
  const client = dnfClient();
  client.use(await site.text("acme-stable.repo"));
  await client.succeed("install", "agent-1", "tool-1", "other-1");
  return client;
}

const listed = (output: string): string[] =>
  output.split("\n").filter((line) => /^(?:acme|cve)-/i.test(line.trim()));

const words = (output: string) => listed(output).map((line) => line.trim().split(/ +/));

test("dnf lists exactly the advisories of the catalog, with their severity and their packages", async () => {
  const client = await machine();
  const expected = [
    ["ACME-1", "Critical/Sec.", "agent-2-1.noarch"],
    ["ACME-2", "Low/Sec.", "agent-2-1.noarch"],
    ["acme-26.08.004", "Unknown/Sec.", "tool-4-1.noarch"],
  ];
  expect(words(await client.succeed("updateinfo", "list"))).toEqual(expected);
  expect(words(await client.succeed("updateinfo", "list", "--security"))).toEqual(expected);
  const withIds = words(await client.succeed("updateinfo", "list", "--with-cve")).map(([id]) => id);
  expect(withIds.filter((id) => id?.startsWith("CVE-"))).toEqual([
    ...["CVE-2026-1001", "CVE-2026-1002", "CVE-2026-1003"],
  ]);
});

test.each([
  ["upgrade --security, only packages that advisories name", ["upgrade", "--security"], "agent-3", "tool-4"],
  [
    "upgrade-minimal --security, exactly their versions",
    ["upgrade-minimal", "--security"],
    "agent-2",
    "tool-4",
  ],
  ["upgrade --advisory, one advisory", ["upgrade-minimal", "--advisory=ACME-1"], "agent-2", "tool-1"],
  ["upgrade --cve, one vulnerability", ["upgrade-minimal", "--cve=CVE-2026-1003"], "agent-1", "tool-4"],
  [
    "upgrade --sec-severity, one severity",
    ["upgrade-minimal", "--sec-severity=Critical"],
    "agent-2",
    "tool-1",
  ],
])("dnf installs with %s", async (_, command, agent, tool) => {
  const client = await machine();
  await client.succeed(...command);
  expect(await client.installed()).toEqual([`${agent}.noarch`, "other-1.noarch", `${tool}.noarch`]);
});

test("after that dnf lists no advisory, and an upgrade installs the rest", async () => {
  const client = await machine();
  await client.succeed("upgrade", "--security");
  expect(listed(await client.succeed("updateinfo", "list"))).toEqual([]);
  await client.succeed("upgrade");
  expect(await client.installed()).toEqual(["agent-3.noarch", "other-3.noarch", "tool-4.noarch"]);
});

test("an advisory of a release whose packages were withdrawn is listed no longer", async () => {
  const { packages } = JSON.parse(await site.text("api/v1/release/26.08.004/index.json"));
  await site.project.succeed("retract", String(packages[0].id), "--reason", "Lost", "--yes");
  await site.publish();
  const client = await machine();
  expect(words(await client.succeed("updateinfo", "list")).map(([id]) => id)).toEqual(["ACME-1", "ACME-2"]);
  await client.succeed("upgrade", "--security");
  expect(await client.installed()).toContain("tool-1.noarch");
});
