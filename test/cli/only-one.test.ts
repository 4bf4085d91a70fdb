import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Project, project, release } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";

const settings = (...sites: string[]) => ({
  product: "Example",
  require: {},
  base_url: "https://downloads.example.com",
  sites: Object.fromEntries(
    sites.map((name) => [name, { url: `dir:${join(temporaryFolder(), name)}`, settles: false }]),
  ),
});

/** A project with one open release, one site and one file. */
const single = (): Project =>
  project({
    "releases/catalog.yaml": settings("prod"),
    ...release("26.09.001", []),
    "out/tool.msi": "hello",
  });

const usingRelease = "Using the only open release: 26.09.001.";
const usingSite = "Using the only site in catalog.yaml: prod.";

test("a project with one open release and one site is ingested, uploaded and released without their names", async () => {
  const { succeed, read } = single();
  expect((await succeed("ingest", "out")).stderr).toContain(usingRelease);
  const uploaded = await succeed("upload", "out/tool.msi");
  expect(uploaded.stderr).toContain(`${usingSite}\n${usingRelease}`);
  const released = await succeed("release", "--yes");
  expect(released.stderr).toContain(`${usingSite}\nTo be made permanent:\n  26.09.001  1 record\n`);
  expect(released.stdout).toMatch(/Released to prod\.$/);
  expect(read("releases/ledger.jsonl")).toContain('"version":"26.09.001"');
  for (const command of ["publish", "history"]) expect((await succeed(command)).stderr).toContain(usingSite);
});

test("release takes versions without a site, and repeats neither site nor option in its hints", async () => {
  const { run, succeed, list } = single();
  await succeed("ingest", "out");
  await succeed("upload", "out/tool.msi");
  const refused = await run("release", "26.09.001");
  expect(refused.stderr).toContain(`${usingSite}\n`);
  expect(refused.stderr).toMatch(/\nNext: relcat release 26\.09\.001 --yes$/);
  expect([refused.exitCode, list("releases")]).toEqual([2, ["26.09.001", "catalog.yaml"]]);
  expect((await succeed("release", "26.09.001", "--yes")).stdout).toMatch(/Released to prod\.$/);
});

test("ingest and upload use the release that their input names, although another is open", async () => {
  const { succeed, write, folder } = single();
  await succeed("ingest", "out", "--out", "manifest.json");
  write("releases/26.09.002/release.yaml", { version: "26.09.002", date: "2026-09-20" });
  const uploaded = await succeed("upload", "--manifest", "manifest.json", "out/tool.msi");
  expect(uploaded.stderr).not.toContain("open release");
  await succeed("ingest", "manifest.json");
  expect(existsSync(join(folder, "releases/26.09.001/manifests"))).toBe(true);
});

test("a release that is cut is not open", async () => {
  const { succeed, write } = single();
  await succeed("ingest", "out");
  await succeed("cut", "--all");
  write("releases/26.10.001/release.yaml", { version: "26.10.001", date: "2026-10-02" });
  write("out/tool.msi", "hello again");
  expect((await succeed("ingest", "out")).stderr).toContain("Using the only open release: 26.10.001.");
});

test.each([
  [
    ["ingest", "out"],
    "the command line names no open release, and there is more than one",
    "--release 26.09.001 or --release 26.09.002",
  ],
  [
    ["upload", "out/tool.msi", "--site", "prod"],
    "the command line names no open release, and there is more than one",
    "--release 26.09.001 or --release 26.09.002",
  ],
  [
    ["upload", "out/tool.msi", "--release", "26.09.001"],
    "the command line names no site in catalog.yaml, and there is more than one",
    "--site prod or --site trial",
  ],
  [
    ["release", "--all"],
    "the command line names no site in catalog.yaml, and there is more than one",
    "prod or trial",
  ],
  [
    ["publish"],
    "the command line names no site in catalog.yaml, and there is more than one",
    "prod or trial",
  ],
  [
    ["rollback", "--reason", "Blank."],
    "the command line names no site in catalog.yaml, and there is more than one",
    "prod or trial",
  ],
])(
  "with two releases and two sites, relcat %j lists them and names the option",
  async (args, what, which) => {
    const { run, write, list } = single();
    write("releases/catalog.yaml", settings("prod", "trial"));
    write("releases/26.09.002/release.yaml", { version: "26.09.002", date: "2026-09-20" });
    const { exitCode, stderr } = await run(...args);
    expect([exitCode, stderr]).toEqual([2, `error[usage] ${what}\n  hint: Name one: ${which}`]);
    expect(list("releases/26.09.001")).toEqual(["release.yaml"]);
  },
);

test.each([
  [
    ["ingest", "out"],
    "the command line names no open release, and a CI job must name it",
    "--release 26.09.001",
  ],
  [
    ["upload", "out/tool.msi", "--release", "26.09.001"],
    "the command line names no site in catalog.yaml, and a CI job must name it",
    "--site prod",
  ],
  [["release", "--all"], "the command line names no site in catalog.yaml, and a CI job must name it", "prod"],
])("in CI, relcat %j must name what it means", async (args, what, which) => {
  const { folder, list } = single();
  const { exitCode, stderr } = await relcat(folder, args, { env: { CI: "true" } });
  expect([exitCode, stderr]).toEqual([2, `error[usage] ${what}\n  hint: Name one: ${which}`]);
  expect(list("releases/26.09.001")).toEqual(["release.yaml"]);
});

test("without a release or a site, the hint says how to make one", async () => {
  const { run } = project({ "releases/catalog.yaml": settings(), "out/tool.msi": "hello" });
  expect((await run("ingest", "out")).stderr).toBe(
    "error[usage] there is no open release\n  hint: Open one with relcat new, or name a release: --release 26.08.002",
  );
  expect((await run("publish")).stderr).toBe(
    'error[usage] there is no site in catalog.yaml\n  hint: Name one there: sites: { prod: { url: "dir:/srv/catalog" } }',
  );
  expect((await relcat(temporaryFolder(), ["publish"])).stderr).toContain("error[folder-missing]");
});
