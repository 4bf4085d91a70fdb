/** @module-tag long */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { changeText, commitAll, gitIn, type PublishingProject, publishingProject } from "./support.ts";

let project: PublishingProject;
const git = (...args: string[]) => gitIn(project.folder, ...args);
const headCommit = async () => (await git("rev-parse", "HEAD")).trim();

beforeEach(async () => {
  project = await publishingProject();
  await git("init", "-q", "-b", "main");
  await commitAll(project.folder);
  await project.succeed("publish", "prod");
});

async function publishCommit(text: string): Promise<void> {
  changeText(project, text);
  await commitAll(project.folder);
  await project.make();
  await project.succeed("publish", "prod");
}

describe("with two commits under one ledger", () => {
  test("publish refuses the earlier one after the later, and rollback restores it", async () => {
    await publishCommit("Second.");
    const second = await headCommit();
    await git("checkout", "-q", "HEAD~1");
    await project.make();
    const { exitCode, stderr } = await project.run("publish", "prod");
    expect(exitCode).toBe(3);
    expect(stderr).toBe(
      `error[site-newer] prod has the build of commit ${second.slice(0, 12)}, which is newer than the commit here\n` +
        "  hint: Publish from the newest main. To go back on purpose: relcat rollback prod --reason TEXT",
    );
    await project.succeed("publish", "prod", "--refresh");
    await project.succeed("rollback", "prod", "--reason", "too early", "--yes");
    await git("checkout", "-q", "main");
    await project.make();
    await project.succeed("publish", "prod", "--release-hold");
    expect(project.state()).toMatchObject({ commit: second, hold: null });
  });

  test("publish accepts a commit that is unrelated to the live one, or unknown to git", async () => {
    await publishCommit("Second.");
    await git("checkout", "-q", "-b", "other", "HEAD~1");
    await publishCommit("Third.");
    await git("update-ref", "-d", "refs/heads/main");
    await git("checkout", "-q", "--orphan", "anew");
    await publishCommit("Fourth.");
    expect(project.state()).toMatchObject({ state: "done", commit: await headCommit() });
  });
});

test("the history names a commit only for its own content", async () => {
  expect(project.state().commit).toBe(await headCommit());
  changeText(project, "Not committed.");
  await project.make();
  await project.succeed("publish", "prod", "--allow-uncommitted", "The forge is down.");
  expect(project.state()).toMatchObject({ commit: null, history: [{ commit: null }, {}] });

  await commitAll(project.folder);
  writeFileSync(join(project.folder, "notes.txt"), "not below releases/");
  changeText(project, "Again.");
  await commitAll(project.folder);
  await project.make();
  await project.succeed("publish", "prod");
  expect(project.state().commit).toBe(await headCommit());
});
