/** @module-tag long */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { differences, readTree } from "../support/tree.ts";
import { addRelease, commitAll, gitIn, type PublishingProject, publishingProject } from "./support.ts";

const root = "releases/trust/1.root.json";

describe.each([["folder"]])("rollback in a %s", () => {
  let project: PublishingProject;
  const git = (...args: string[]) => gitIn(project.folder, ...args);
  const page = () => readFileSync(join(project.www, "current/releases/26.08.001/index.html"), "utf8");

  const isWithdrawn = (id: number) =>
    existsSync(join(project.www, `current/api/v1/package/${id}/gone.json`)) &&
    !existsSync(join(project.www, `current/api/v1/package/${id}/index.json`));

  beforeAll(async () => {
    project = await publishingProject();
    await gitIn(project.folder, "init", "-q");
    await commitAll(project.folder);
    await project.succeed("publish", "prod");
    const release = join(project.folder, "releases/26.08.001/release.yaml");
    const text = readFileSync(release, "utf8");
    writeFileSync(release, text.replace("**in bulk**.", "**in bulk**. A page that should not be there."));
    await commitAll(project.folder);
    await project.make();
    await project.succeed("publish", "prod");
  });

  test("needs a reason, and a confirmation", async () => {
    expect((await project.run("rollback", "prod", "--yes")).stderr).toContain("--reason");
    expect(await project.run("rollback", "prod", "--reason", " ", "--yes")).toMatchObject({
      exitCode: 2,
      stderr:
        "error[usage] the reason is empty or has line breaks\n  hint: Describe the problem with the live build in one line: it is shown to everyone who tries to publish.",
    });
    expect(await project.run("rollback", "prod", "--reason", "x\u202ey", "--yes")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^error\[usage\] the reason has U\+202E, which is invisible\n/),
    });
    const { exitCode, stderr } = await project.run("rollback", "prod", "--reason", "x");
    expect(exitCode).toBe(2);
    expect(stderr).toContain("error[not-confirmed]");
  });

  test("to a build that is not kept is refused", async () => {
    const to = (build: string) => project.run("rollback", "prod", "--to", build, "--reason", "x", "--yes");
    expect(await to("abcabcabcabc")).toMatchObject({
      exitCode: 2,
      stderr:
        "error[build-unknown] the build abcabcabcabc was never published there, or is no longer kept\n  hint: relcat history lists those that rollback can use.",
    });
    for (const build of ["", "abc", "../builds"])
      expect(await to(build)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(
          /^error\[usage\] ".*" is not valid for --to <build>\n {2}hint: Give the SHA-256 of its build\.json, or its first 12 characters or more\.$/,
        ),
      });
  });

  test("with --dry-run changes nothing", async () => {
    const before = readTree(join(project.www, "current"));
    const { stdout, stderr } = await project.succeed("rollback", "prod", "--reason", "x", "--dry-run");
    expect(stdout).toMatch(/^Would publish the earlier build \(build [0-9a-f]{12}\) to prod: /);
    expect(stderr).toContain("~ releases/26.08.001/index.html");
    expect(differences(before, readTree(join(project.www, "current")))).toEqual([]);
  });

  test("restores the earlier bytes under newer signatures, and holds the site", async () => {
    await project.succeed("verify", join(project.www, "current"), "--root", root, "--trust-dir", "state");
    expect(page()).toContain("A page that should not be there.");
    const { stdout, stderr } = await project.succeed("rollback", "prod", "--reason", "odd page", "--yes");
    expect(stdout).toMatch(/^Published build [0-9a-f]{12} to prod: /);
    expect(stderr).toContain("prod is on hold: relcat release and publish refuse without --release-hold.");
    expect(page()).not.toContain("A page that should not be there.");
    // A client that saw the bad build continues without an error.
    await project.succeed("verify", join(project.www, "current"), "--root", root, "--trust-dir", "state");
    const { history } = project.state();
    expect(history.map(({ action }) => action)).toEqual(["rollback", "publish", "publish"]);
    expect(history[0]?.build).toBe(history[2]?.build);
  });

  test("makes the next publish fail with the reason", async () => {
    const signed = await project.succeed("sign", "--site", "prod");
    expect(signed.stdout).toMatch(
      /\. Signatures are valid until 20\S+Z; renew them with relcat publish prod --refresh\.$/,
    );
    expect(signed.stderr).toMatch(
      /(^|\n)prod has been held since \S+ by \S+: odd page\nNext: relcat publish prod --release-hold, when that is repaired$/,
    );
    expect((await project.succeed("status")).stdout).toMatch(
      /\nNext: relcat build --released --site prod && relcat sign --site prod && relcat publish prod --release-hold\n {2}prod is held until this is repaired: odd page$/,
    );
    const { exitCode, stderr } = await project.run("publish", "prod");
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(
      /^error\[site-held\] prod has been held since \S+ by \S+: odd page\n {2}hint: When that is repaired: relcat release prod --release-hold\. To withdraw a package in the meantime: relcat build --released --at [0-9a-f]{12} --site prod --out earlier, then, if the site is signed, relcat sign --site prod --out earlier, then relcat publish prod --out earlier$/,
    );
    const { stdout } = await project.succeed("history", "prod");
    expect(stdout).toMatch(/\nlive {2}[0-9a-f]{12} .* rollback .* odd page\n/);
    expect(stdout).toMatch(/\nHeld since \S+ by \S+: odd page$/);
  });

  test("build --at names itself in the hint, if git does not know the commit", async () => {
    const { exitCode, stderr } = await project.run("build", "--released", "--at", "nonsense");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: [
        "error[git-revision] git does not know the revision nonsense",
        "  hint: It is not a branch, tag or commit of this clone, or a branch of one of its remotes. Another one is named with --at.",
      ].join("\n"),
    });
  });

  test("allows a publish of withdrawals under the hold", async () => {
    await project.succeed("retract", "7", "--reason", "Does not start.", "--yes");
    await commitAll(project.folder);
    const back = /--at ([0-9a-f]{12})/.exec(
      (await project.run("publish", "prod", "--out", "dist")).stderr,
    )?.[1];
    // The ledger has changed, so the earlier build does not fit any more.
    expect(back).toBeUndefined();
    const at = (await git("rev-parse", "HEAD~2")).trim();
    await project.succeed("build", "--released", "--at", at, "--out", "earlier");
    expect((await project.succeed("sign", "--site", "prod", "--out", "earlier")).stderr).toMatch(
      /(^|\n)Next: relcat publish --out earlier prod$/,
    );
    await project.succeed("publish", "prod", "--out", "earlier");
    expect(page()).not.toContain("A page that should not be there.");
    expect(isWithdrawn(7)).toBe(true);
    await project.succeed("verify", join(project.www, "current"), "--root", root, "--trust-dir", "state");
  });

  test("to a record that was withdrawn since is refused with a hint", async () => {
    const [, , , first] = project.state().history;
    const { exitCode, stderr } = await project.run(
      ...["rollback", "prod", "--to", first?.build.slice(0, 16) ?? "", "--reason", "x", "--yes"],
    );
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^error\[build-retracted\] that build offers what was withdrawn since: package 7\n {2}hint: Build it again with today's ledger, and go back to that: relcat build --released --site prod --at [0-9a-f]{12} --out earlier, then relcat rollback prod --out earlier --reason TEXT$/,
    );
  });

  test("makes publish refuse earlier signatures", async () => {
    await project.make();
    const before = project.state().build;
    rmSync(join(project.folder, "copy"), { recursive: true, force: true });
    await project.succeed("build", "--released", "--out", "copy");
    await project.succeed("sign", "--out", "copy");
    const { exitCode, stderr } = await project.run("publish", "prod", "--out", "copy", "--release-hold");
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(
      /^error\[site-newer\] copy was signed before the live build at prod: its timestamp has version 1, and there is \d+\n {2}hint: Sign it again, continuing from the published metadata: relcat sign --out copy --site prod$/,
    );
    expect(project.state().build).toBe(before);
  });

  test("holds the site until --release-hold", async () => {
    await project.succeed("publish", "prod", "--release-hold");
    expect(page()).toContain("A page that should not be there.");
    expect(project.state()).toMatchObject({ hold: null });
    await project.succeed("verify", join(project.www, "current"), "--root", root, "--trust-dir", "state");
  });

  test("can restore a build of an earlier commit, which publish refuses", async () => {
    const at = (await git("rev-parse", "HEAD~2")).trim();
    await project.succeed("build", "--released", "--at", at, "--out", "earlier");
    await project.succeed("sign", "--site", "prod", "--out", "earlier");
    const { exitCode, stderr } = await project.run("publish", "prod", "--out", "earlier");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^error\[build-stale\] the build is of an earlier commit, [0-9a-f]{12}, and prod has another commit\n {2}hint: To go back to it: relcat rollback prod --out earlier --reason TEXT$/,
    );
    await project.succeed("rollback", "prod", "--out", "earlier", "--reason", "again", "--yes");
    expect(isWithdrawn(7)).toBe(true);
    expect(page()).not.toContain("A page that should not be there.");
    expect(project.state()).toMatchObject({ hold: { reason: "again", commit: at } });
  });
});

test("rollback past a month's first release keeps clients valid that saw it", async () => {
  const project = await publishingProject();
  const verify = () =>
    project.succeed("verify", join(project.www, "current"), "--root", root, "--trust-dir", "state");
  await project.succeed("publish", "prod");
  await addRelease(project, "26.09.001");
  await project.make();
  await project.succeed("publish", "prod");
  await verify();
  await project.succeed("rollback", "prod", "--reason", "too early", "--yes");
  expect(existsSync(join(project.www, "current/releases/26.09.001"))).toBe(false);
  await verify();
  await project.make();
  await project.succeed("publish", "prod", "--end-hold", "--dry-run");
  const release = ["release", "prod", "--yes", "--verify-at", "www/current"];
  const refused = await project.run(...release);
  expect(refused).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("error[site-held]") });
  expect(refused.stderr).toContain("relcat release prod --release-hold");
  expect(project.state()).toMatchObject({ hold: { reason: "too early" } });
  await project.succeed(...release, "--release-hold", "--dry-run");
  expect(project.state()).toMatchObject({ hold: { reason: "too early" } });
  await project.succeed(...release, "--release-hold");
  expect(project.state()).toMatchObject({ hold: null });
  expect(existsSync(join(project.www, "current/releases/26.09.001"))).toBe(true);
  await verify();
});
