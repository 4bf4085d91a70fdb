/** @module-tag long */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { chooseLatestOfArchitecture } from "../../pipeline/selection/latest-of-architecture.ts";
import { readListQuery } from "../../pipeline/selection/query.ts";
import { select } from "../../pipeline/selection/select.ts";
import { readPackageList } from "../../service/catalog/package-list.ts";
import { onlineKey, type SignedProject, signedProject } from "../trust/support.ts";
import { copyOf, Forger, verify } from "../verify/support.ts";

// biome-ignore lint/suspicious/noExplicitAny: documents are changed as text
type Json = any;

/** A signed site: stable offers 26.08.002 and older releases, and has halted 26.09.001; beta offers 26.09.001; edge offers none. */
let project: SignedProject;
beforeAll(async () => {
  const now = new Date().toISOString();
  project = await signedProject("simple", now);
  appendFileSync(
    join(project.folder, "releases/catalog.yaml"),
    "channels: { stable: {}, beta: {}, edge: {} }\n",
  );
  for (const args of [
    ["channel", "halt", "stable", "26.09.001", "--reason", "Loses settings.", "--yes", "--no-base"],
    ["channel", "promote", "26.09.001", "beta", "--yes", "--no-base"],
    ["build", "--released"],
    ["sign", "--now", now],
  ]) {
    const { exitCode, stderr } = await project.relcat(args, onlineKey(project.keys));
    expect(exitCode, stderr).toBe(0);
  }
});

test("verify accepts a site with channels, and reports a document that offers what its channel does not", async () => {
  expect(await verify(project, [project.dist])).toMatchObject({ exitCode: 0 });
  const forged = async (path: string, change: (document: Json) => void) => {
    const folder = copyOf(project.dist);
    new Forger(folder, project).retarget("catalog", path, change);
    const { exitCode, text } = await verify(project, [folder]);
    expect(exitCode).not.toBe(0);
    return text;
  };
  expect(
    await forged("catalog/channel-stable.json", (document) => (document.releases[0].halted = null)),
  ).toContain("catalog/channel-stable.json offers other releases than the index of channels");
  expect(await forged("catalog/channel-beta.json", (document) => document.packages.pop())).toMatch(
    /catalog\/channel-beta\.json lacks package \d+, the newest of its type/,
  );
  expect(
    await forged("catalog/channel-index.json", (document) => (document.channels[0].versions = ["26.09.001"])),
  ).toMatch(/catalog\/latest\.json names package \d+, which is not the newest/);
  expect(await forged("catalog/channel-beta.json", (document) => (document.releases = "all"))).toContain(
    "catalog/channel-beta.json breaks its schema at releases",
  );
});

test("latest is the default channel's newest release for servers, list and download", async () => {
  const read = (path: string) => readFileSync(join(project.dist, path));
  const channels = read("api/v1/channel/index.json");
  const { index } = readPackageList(read("api/v1/package/index.json"), "0".repeat(64), channels);
  const chosen = (query: string) =>
    new Set(select(index, readListQuery(new URLSearchParams(query))).map((at) => index.value("version", at)));
  expect(chosen("version=latest&package_type=deb")).toEqual(new Set(["26.08.002"]));
  expect(chosen("version=26.09.001&package_type=deb")).toEqual(new Set(["26.09.001"]));
  expect(chosen("package_type=deb").has("26.09.001")).toBe(true);
  const redirected = async (query: string) => {
    const { choice } = await chooseLatestOfArchitecture(
      index,
      new URLSearchParams(query),
      async () => new Map(),
    );
    return choice.kind === "one" ? index.value("version", choice.position) : choice.kind;
  };
  expect(await redirected("package_type=rpm&name=northgate-client-gui-26.09.001-1.x86_64.rpm")).toBe("none");
  expect(await redirected("package_type=helm")).toBe("26.08.002");
  const { stdout } = await project.relcat(["list", "version=latest", "package_type=deb", "--json"]);
  expect(new Set(JSON.parse(stdout).records.map(({ version }: Json) => version))).toEqual(
    new Set(["26.08.002"]),
  );
  const root = ["--root", join(project.folder, "releases/trust/1.root.json")];
  const download = (...args: string[]) => downloadOf("latest", ...args);
  const downloadOf = (which: string, ...args: string[]) =>
    project.relcat([
      "download",
      which,
      "msi",
      "--from",
      project.dist,
      ...root,
      "--set",
      "gui_only=true",
      ...args,
    ]);
  expect((await download()).stderr).toContain("26.08.002");
  expect((await download("--channel", "beta")).stderr).toContain("26.09.001");
  expect((await download("--channel", "gamma")).stderr).toMatch(
    /error\[channel-unknown\] .* has no channel "gamma"\n {2}hint: Name one of its channels: stable, beta, edge\./,
  );
  expect((await download("--channel", "edge")).stderr).toMatch(
    /error\[artifact-missing\] there is no msi in latest that fits\n {2}hint: The channel offers no release\. Name a version, or another channel with --channel\./,
  );
  expect((await downloadOf("26.08", "--channel", "beta")).stderr).toContain(
    "The channel offers no release of 26.08. Its newest is 26.09.001.",
  );
});
