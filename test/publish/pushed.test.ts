/** @module-tag long */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../support/run.ts";
import { addRelease, commitAll, gitIn, type PublishingProject, publishingProject } from "./support.ts";

let project: PublishingProject;
const git = (...args: string[]) => gitIn(project.folder, ...args);

/** A pushed project with another cut that is not pushed. */
beforeEach(async () => {
  project = await publishingProject({
    trust: "none",
    sites: (folder) =>
      `  prod: {url: "dir:${folder}/www"}\n  staging: {url: "dir:${folder}/stage", settles: false}\n`,
  });
  const origin = temporaryFolder();
  await git("init", "-q", "--bare", "-b", "main", origin);
  await git("init", "-q", "-b", "main");
  await git("remote", "add", "origin", origin);
  await commitAll(project.folder);
  await git("push", "-q", "origin", "main");
  await addRelease(project, "26.09.001");
  await project.make();
});

test("publish refuses unpushed ledger lines at a settling site", async () => {
  const refusal =
    "error[ledger-unpushed] origin/main does not have the last line of the ledger, so its id may still change\n" +
    "  hint: Commit the ledger and git push (git fetch, where it is merged already), then publish. To publish anyway: --allow-unpushed REASON";
  for (const more of [[], ["--dry-run"]]) {
    const { exitCode, stderr } = await project.run("publish", "prod", ...more);
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining(refusal)]);
  }
  // A commit is not enough.
  await commitAll(project.folder);
  expect((await project.run("publish", "prod")).exitCode).toBe(3);
  await project
    .run("publish", "staging")
    .then(({ stderr }) => expect(stderr).not.toContain("ledger-unpushed"));
  await git("push", "-q", "origin", "main");
  const { stderr } = await project.succeed("publish", "prod");
  expect(stderr).not.toMatch(/Nobody checked|ledger/);
  expect(project.state().history[0]).not.toHaveProperty("unpushed");
  // An approved commit behind the base, whose lines the base has too.
  await project.succeed("retract", "1", "--reason", "Broken.", "--yes");
  await commitAll(project.folder);
  await git("push", "-q", "origin", "main");
  await git("checkout", "-q", "--force", "HEAD~1");
  await project.make();
  await project.succeed("publish", "prod");
});

test("--allow-unpushed publishes them, and the history keeps the reason", async () => {
  const reason = "The forge is down.";
  await commitAll(project.folder);
  await project.succeed("publish", "prod", "--allow-unpushed", reason);
  expect(project.state().history[0]).toMatchObject({ action: "publish", unpushed: reason });
  expect((await project.succeed("history", "prod")).stdout).toContain(
    `published before it was pushed: ${reason}`,
  );
  const { exitCode, stderr } = await project.run("publish", "prod", "--allow-unpushed", " ");
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("error[usage] the reason is empty")]);
});

test("publish reports if origin/main has other lines instead", async () => {
  await commitAll(project.folder);
  await git("checkout", "-q", "-b", "other", "HEAD~1");
  await project.succeed("retract", "1", "--reason", "Broken.", "--yes");
  await commitAll(project.folder);
  await git("push", "-q", "origin", "other:main");
  await git("checkout", "-q", "main");
  const { exitCode, stderr } = await project.run("publish", "prod");
  expect(exitCode).toBe(3);
  expect(stderr).toContain(
    "hint: It has other lines there: git merge origin/main, relcat ledger rebase, git push, then build and publish again.",
  );
});

test("publish reports if git cannot compare", async () => {
  await commitAll(project.folder);
  await git("update-ref", "-d", "refs/remotes/origin/main");
  const unknown = await project.succeed("publish", "prod", "--dry-run");
  expect(unknown.stderr).toContain(
    "Nothing checked whether origin/main has every line of the ledger: git does not know it.",
  );
  rmSync(join(project.folder, ".git"), { recursive: true });
  const { stderr } = await project.succeed("publish", "prod", "--allow-unpushed", "No git here.");
  expect(stderr).toContain(
    "Nothing checked whether origin/main has every line of the ledger: this folder is not in a git repository.",
  );
  expect(project.state().history[0]).toMatchObject({ unpushed: "No git here." });
});
