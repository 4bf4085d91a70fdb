/** @module-tag long */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSettings } from "../../pipeline/project/settings.ts";
import { signProved } from "../../pipeline/trust/sign-site.ts";
import { sha256 } from "./forged-site.ts";
import { inDays, type PublishingProject, page, publishingProject, publishText } from "./support.ts";

const root = "releases/trust/1.root.json";
const live = (project: PublishingProject) => join(project.www, "current");
const verify = (project: PublishingProject) =>
  project.succeed("verify", live(project), "--root", root, "--trust-dir", "state");

const rollback = (project: PublishingProject, ...args: string[]) =>
  project.run("rollback", "prod", "--reason", "odd page", "--yes", ...args);

test("a second rollback is refused, and the bad build remains replaced", async () => {
  const project = await publishingProject();
  await publishText(project, "First.");
  await publishText(project, "Bad.");
  expect(await rollback(project)).toMatchObject({ exitCode: 0 });
  expect(await rollback(project)).toMatchObject({
    exitCode: 3,
    stderr: expect.stringMatching(
      /^error\[site-held\] the site was already rolled back, to build [0-9a-f]{12}, and is held there: odd page\n {2}hint: To go further back, name the build with --to: relcat history lists them\.$/,
    ),
  });
  expect(page(project)).toContain("First.");
  // After the hold, rollback does not restore the replaced build.
  await publishText(project, "Mended.", "--release-hold");
  expect(await rollback(project)).toMatchObject({ exitCode: 0 });
  expect(page(project)).toContain("First.");
});

test("the hold also ends if the repaired build has the live bytes", async () => {
  const project = await publishingProject();
  await publishText(project, "First.");
  await publishText(project, "Bad.");
  expect(await rollback(project)).toMatchObject({ exitCode: 0 });
  await publishText(project, "First.", "--release-hold");
  expect(project.state()).toMatchObject({ hold: null });
  await project.succeed("publish", "prod");
});

test("signatures of the live bytes are renewed under a hold", async () => {
  const project = await publishingProject();
  await publishText(project, "First.");
  await publishText(project, "Bad.");
  expect(await rollback(project)).toMatchObject({ exitCode: 0 });
  const { build, hold } = project.state();
  const timestamp = () =>
    JSON.parse(readFileSync(join(live(project), "metadata/timestamp.json"), "utf8")).signed;
  const before = timestamp().version;
  // The rollback has just signed, and a renewal needs signatures past half of their life.
  rmSync(join(project.folder, "dist"), { recursive: true });
  await project.succeed("publish", "prod", "--refresh");
  expect(timestamp().version).toBeGreaterThanOrEqual(before);
  expect(project.state()).toMatchObject({ build, hold });
  expect(page(project)).toContain("First.");
  await verify(project);
  const { stderr } = await project.run("publish", "prod", "--refresh", "--release-hold");
  expect(stderr).toContain("error[usage] --refresh keeps a hold, and --release-hold ends it");
});

test("renewals do not displace the builds that rollback can restore", async () => {
  const project = await publishingProject({
    sites: (folder) => `  prod: {url: "dir:${folder}/www", keep: {builds: 2}}\n`,
  });
  await project.succeed("publish", "prod");
  await publishText(project, "Second.");
  await project.succeed("publish", "prod", "--refresh");
  expect(project.state().history.map(({ action }) => action)).toEqual(["refresh", "publish", "publish"]);
  expect(await rollback(project)).toMatchObject({ exitCode: 0 });
  expect(page(project)).not.toContain("Second.");
});

test("builds that rollback cannot restore are removed when a lease has passed, and foreign folders are not", async () => {
  const project = await publishingProject({
    trust: "none",
    sites: (folder) => `  prod: {url: "dir:${folder}/www", keep: {builds: 1}}\n`,
  });
  const at = (path: string) => join(project.www, path);
  const newest = () => project.state().history[0]?.files ?? "";
  await project.succeed("publish", "prod");
  const first = newest();
  mkdirSync(at("builds/nightly-2025"));
  await publishText(project, "Second.");
  const second = newest();
  // The folder of another publisher that is still writing is as young.
  expect(readdirSync(at("builds")).sort()).toEqual([first, "nightly-2025", second].sort());

  const hourAgo = new Date(Date.now() - 3_600_000);
  for (const path of [`builds/${first}`, `state/${first}.json`, "builds/nightly-2025"])
    utimesSync(at(path), hourAgo, hourAgo);
  await publishText(project, "Third.");
  expect(readdirSync(at("builds")).sort()).toEqual(["nightly-2025", second, newest()].sort());
  expect(readdirSync(at("state")).sort()).toEqual([`${second}.json`, `${newest()}.json`].sort());
});

test("signatures of a build that an earlier relcat made without lists of versions are renewed", async () => {
  const project = await publishingProject();
  const dist = join(project.folder, "dist");
  const build = JSON.parse(readFileSync(join(dist, "build.json"), "utf8"));
  const lists = Object.keys(build.files).filter((path) => path.startsWith("api/v1/versions."));
  expect(lists).toContain("api/v1/versions.json");
  for (const path of lists) {
    rmSync(join(dist, path));
    delete build.files[path];
  }
  writeFileSync(join(dist, "build.json"), JSON.stringify(build));
  const proved = sha256(readFileSync(join(dist, "build.json")));
  const signing = { environment: project.secrets, now: Date.parse(inDays(-5)) };
  const context = { pid: process.pid, onWait: () => undefined };
  await signProved(await openSettings(join(project.folder, "releases")), dist, proved, signing, context);
  await project.succeed("publish", "prod");
  const published = project.state().build;
  rmSync(dist, { recursive: true });
  await project.succeed("publish", "prod", "--refresh");
  expect(project.state()).toMatchObject({ build: published, history: [{ action: "refresh" }, {}] });
  await verify(project);
});

test("a kept build that was changed is neither restored nor signed again", async () => {
  const project = await publishingProject();
  await project.succeed("publish", "prod");
  await publishText(project, "Bad.");
  const [bad, first] = project.state().history;
  const file = join(project.www, "builds", first?.files ?? "", "releases/26.08.001/index.html");
  const before = readFileSync(file);
  writeFileSync(file, "by hand");
  const said = (path: string, build = "") =>
    `error[build-unproved] dir:${project.www}: ${path} of the kept build ${build.slice(0, 12)} is missing or changed\n  hint: Nothing was changed. `;
  expect(await rollback(project)).toMatchObject({
    exitCode: 6,
    stderr:
      said("releases/26.08.001/index.html", first?.build) +
      "Go back to another build with --to, or build this one again from its commit: relcat build --released --site prod --at COMMIT --out earlier, then relcat rollback prod --out earlier --reason TEXT",
  });
  writeFileSync(file, before);
  rmSync(join(project.www, "builds", bad?.files ?? "", "index.html"));
  expect(await project.run("publish", "prod", "--refresh")).toMatchObject({
    exitCode: 6,
    stderr:
      said("index.html", bad?.build) +
      "Build and sign from the checkout instead: relcat build --released --site prod, relcat sign --site prod, relcat publish prod",
  });
  expect(await rollback(project)).toMatchObject({ exitCode: 0 });
});

describe("a foreign file", () => {
  test("in builds/ is kept", async () => {
    const project = await publishingProject();
    mkdirSync(join(project.www, "builds/nightly-2025"), { recursive: true });
    writeFileSync(join(project.www, "builds/nightly-2025/important.tar"), "x");
    await project.succeed("publish", "prod");
    expect(readFileSync(join(project.www, "builds/nightly-2025/important.tar"), "utf8")).toBe("x");
  });

  test.each(["current", "hosting"])("in the place of %s is kept", async (name) => {
    const project = await publishingProject();
    mkdirSync(join(project.folder, "elsewhere"));
    symlinkSync(join(project.folder, "elsewhere"), join(project.www, name));
    const { exitCode, stderr } = await project.run("publish", "prod");
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`error[folder-not-ours] ${join(project.www, name)} is a link to `);
    expect(readlinkSync(join(project.www, name))).toBe(join(project.folder, "elsewhere"));
  });

  test("in the place of the state is reported without a stack", async () => {
    const project = await publishingProject();
    await project.succeed("publish", "prod");
    for (const text of ["", "<html>", "{"]) {
      writeFileSync(join(project.www, "current.json"), text);
      for (const args of [
        ["publish", "prod"],
        ["history", "prod"],
      ]) {
        const { exitCode, stderr } = await project.run(...args);
        expect(exitCode, stderr).toBe(6);
        expect(stderr).toMatch(/^error\[site-tampered\] .*current\.json is not what relcat writes: /);
      }
    }
    expect((await project.succeed("status")).stdout).toMatch(/^prod +unknown /m);
  });
});

describe("signatures", () => {
  test("are not published after they expired", async () => {
    const project = await publishingProject();
    rmSync(join(project.folder, "dist/metadata"), { recursive: true });
    const longAgo = new Date(Date.now() - 8 * 86_400_000).toISOString().replace("Z", "000Z");
    await project.succeed("sign", "--now", longAgo);
    const { exitCode, stderr } = await project.run("publish", "prod");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^error\[build-unsigned\] dist has expired: its timestamp ended on \S+\n {2}hint: Sign it again: relcat sign --site prod$/,
    );
  });

  test("are not published with lower versions than the live ones", { tags: ["long"] }, async () => {
    const project = await publishingProject();
    await project.succeed("publish", "prod");
    for (const text of ["One.", "Two."]) await publishText(project, text);
    await project.succeed("build", "--released", "--out", "other");
    // Numbers of its own, and more of them than the site has.
    for (let days = -30; days < -1; days += 4) {
      const at = new Date(Date.now() + days * 86_400_000).toISOString().replace("Z", "000Z");
      await project.succeed("sign", "--out", "other", "--now", at);
    }
    const { exitCode, stderr } = await project.run("publish", "prod", "--out", "other");
    expect(exitCode, stderr).toBe(3);
    expect(stderr).toMatch(
      /^error\[(site-newer\] other was signed before the live build at prod: its|object-taken\] .*metadata\/)/,
    );
  });

  test("are required at a signed site, even if catalog.yaml no longer asks for them", async () => {
    const project = await publishingProject();
    await project.succeed("publish", "prod");
    const file = join(project.folder, "releases/catalog.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^trust: .*$/m, "trust: none"));
    await project.succeed("build", "--released", "--out", "plain");
    const { exitCode, stderr } = await project.run("publish", "prod", "--out", "plain");
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      "error[build-unsigned] prod is signed, and plain is not\n  hint: Its readers check signatures: set trust: simple or full in catalog.yaml again.",
    );
  });
});

test("publish refuses a build that was made under another ledger", async () => {
  const project = await publishingProject();
  await project.succeed("publish", "prod");
  await project.succeed("build", "--released", "--out", "old");
  await project.succeed("sign", "--site", "prod", "--out", "old");
  const manifest = join(project.folder, "releases/26.08.001/manifests/images.yaml");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace("Controller image for KVM", "For KVM"));
  await project.succeed("cut", "26.08.001");
  await project.make();
  await project.succeed("publish", "prod");
  for (const command of ["sign", "publish"])
    expect(
      await project.run(command, ...(command === "publish" ? ["prod"] : []), "--out", "old"),
    ).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^error\[build-stale\] the build was made before the last line of the ledger\n/,
      ),
    });

  // The changed reason is in no listed file.
  await project.succeed("retract", "7", "--reason", "Does not start.", "--yes");
  await project.make();
  await project.succeed("retract", "7", "--reason", "Loses data.", "--yes");
  expect((await project.run("publish", "prod")).stderr).toContain("error[build-stale]");

  const ledger = join(project.folder, "releases/ledger.jsonl");
  await project.make();
  const newest = readFileSync(ledger, "utf8");
  writeFileSync(ledger, newest.split("\n").slice(0, -3).concat("").join("\n"));
  expect(await project.run("publish", "prod")).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(
      "error[build-stale] the build was made with a ledger that the ledger here does not begin with",
    ),
  });
  writeFileSync(ledger, newest);
  await project.succeed("publish", "prod");
});

test("two sites have separate folders", async () => {
  const project = await publishingProject();
  const file = join(project.folder, "releases/catalog.yaml");
  writeFileSync(
    file,
    `${readFileSync(file, "utf8")}  staging: {url: "dir:${project.www}/sub/", settles: false}\n`,
  );
  const { exitCode, stdout } = await project.run("check");
  expect(exitCode).toBe(1);
  expect(stdout).toContain("error[config-url] the site staging (dir:");
  expect(stdout).toContain("Give each a folder, or a prefix, of its own.");
});
