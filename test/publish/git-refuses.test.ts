/** @module-tag long */
import { appendFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { relcat, temporaryFolder } from "../support/run.ts";
import { addRelease, commitAll, gitIn, type PublishingProject, publishingProject } from "./support.ts";

let project: PublishingProject;
const git = (...args: string[]) => gitIn(project.folder, ...args);

/** A pushed project with another cut that is not pushed, so that each guard has something to refuse. */
beforeEach(async () => {
  project = await publishingProject({ trust: "none" });
  const origin = temporaryFolder();
  await git("init", "-q", "--bare", "-b", "main", origin);
  await git("init", "-q", "-b", "main");
  await git("remote", "add", "origin", origin);
  await commitAll(project.folder);
  await git("commit", "-q", "--allow-empty", "-m", "Second");
  await git("push", "-q", "origin", "main");
  await addRelease(project, "26.09.001");
  await project.make();
});

const commands: string[][] = [
  ["check"],
  ["cut", "--all"],
  ["sign", "--site", "prod"],
  ["publish", "prod"],
  ["release", "prod", "--yes"],
  ["retract", "1", "--reason", "Broken.", "--yes"],
  ["status", "--offline"],
];

/** Enough where only the kind of damage differs. */
const few = commands.filter(([name = ""]) => ["check", "publish"].includes(name));

async function commandsSay(message: string, hint: string, env: Record<string, string> = {}, which = few) {
  for (const args of which) {
    const { exitCode, stderr } = await relcat(project.folder, args, { env: { ...project.secrets, ...env } });
    expect([args[0], exitCode, stderr]).toEqual([args[0], 2, expect.stringContaining(message)]);
    expect(stderr).toContain(`  hint: ${hint}`);
  }
}

const refusal = "error[git-refused] git cannot read the repository of releases: ";
const repair = "Repair it (git status and git fsck say more), or use a new clone.";
const objectOf = async (name: string) => {
  const id = await git("rev-parse", name);
  return join(project.folder, ".git/objects", id.slice(0, 2), id.slice(2));
};

describe("a repository that git refuses to read stops every command that compares the ledger", () => {
  test("if another user owns it", async () => {
    await commandsSay(
      `${refusal}detected dubious ownership in repository at '${project.folder}'\n`,
      `Another user owns it. If you trust that user: git config --global --add safe.directory ${project.folder}`,
      { GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" },
      commands,
    );
  });

  test("if its configuration is damaged", async () => {
    appendFileSync(join(project.folder, ".git/config"), "[broken\n");
    await commandsSay(`${refusal}bad config line `, repair);
  });

  test("if a work tree names a repository that is not mounted", async () => {
    rmSync(join(project.folder, ".git"), { recursive: true });
    writeFileSync(join(project.folder, ".git"), "gitdir: /nowhere/.git/worktrees/one\n");
    await commandsSay(
      `${refusal}not a git repository: /nowhere/.git/worktrees/one\n`,
      "The work tree names the repository /nowhere/.git/worktrees/one. Mount it here, or use a clone.",
    );
  });

  test("if .git is not a repository", async () => {
    rmSync(join(project.folder, ".git/HEAD"));
    await commandsSay(`${refusal}not a git repository (or any`, repair);
  });

  test.each([
    ["the commit", "HEAD"],
    ["the commit of the base", "HEAD~1"],
    ["the folder", "HEAD:releases"],
    ["the ledger", "HEAD:releases/ledger.jsonl"],
  ])("if %s is missing", async (_, name) => {
    rmSync(await objectOf(name));
    await commandsSay(refusal, repair);
  });

  test("if its index is damaged", async () => {
    writeFileSync(join(project.folder, ".git/index"), "x");
    await commandsSay(`${refusal}.git/index: index file smaller than expected\n`, repair);
  });

  test("if git is not installed", async () => {
    for (const args of commands) {
      const { exitCode, stderr } = await relcat(project.folder, args, {
        env: { ...project.secrets, PATH: "/nonexistent" },
      });
      expect([args[0], exitCode, stderr]).toEqual([
        args[0],
        2,
        expect.stringContaining("error[git-missing] git is not installed"),
      ]);
    }
  });
});

test("a partial clone that lost its remote says so in one line", async () => {
  const origin = await git("remote", "get-url", "origin");
  await commitAll(project.folder);
  await git("push", "-q", "origin", "main");
  await gitIn(origin, "config", "uploadpack.allowFilter", "true");
  const clone = temporaryFolder();
  await gitIn(clone, "clone", "-q", "--no-checkout", "--filter=blob:none", `file://${origin}`, ".");
  await gitIn(clone, "checkout", "-q", "HEAD~1");
  rmSync(origin, { recursive: true });
  const { exitCode, stderr } = await relcat(clone, ["plan"]);
  expect([exitCode, stderr]).toEqual([
    2,
    `${refusal}'${origin}' does not appear to be a git repository\n  hint: ${repair}`,
  ]);
});

test.each([
  ["is killed", "kill -9 $$", "Command was killed with SIGKILL"],
  [
    "lacks a library",
    "echo 'git: libpcre2.so.0 is missing' >&2; exit 127",
    "git: libpcre2.so.0 is missing\n",
  ],
])("a git that %s is not taken for a folder without a repository", async (_, script, reason) => {
  const programs = temporaryFolder();
  writeFileSync(join(programs, "git"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  await commandsSay(
    `error[git-missing] git does not work: ${reason}`,
    "Run git status in the project to see the cause, then run the command again.",
    { PATH: programs },
    commands,
  );
});

test("a git that says nothing is not taken for a folder without a repository", async () => {
  const programs = temporaryFolder();
  symlinkSync("/bin/false", join(programs, "git"));
  await commandsSay(`${refusal}no answer\n`, repair, { PATH: programs }, [
    ["check"],
    ["status", "--offline"],
  ]);
});

test("git's variables of a hook and settings of the user change no answer", async () => {
  const other = temporaryFolder();
  await gitIn(other, "init", "-q");
  await gitIn(other, "commit", "-q", "--allow-empty", "-m", "Other");
  const before = await gitIn(other, "rev-parse", "HEAD");
  for (const env of [{ GIT_DIR: ".git" }, { GIT_DIR: join(other, ".git"), GIT_WORK_TREE: other }]) {
    const run = (...args: string[]) =>
      relcat(project.folder, args, { env: { ...project.secrets, ...env } as Record<string, string> });
    await project.make();
    const { exitCode, stderr } = await run("publish", "prod");
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining("error[ledger-unpushed]")]);
    await addRelease(project, env.GIT_DIR === ".git" ? "26.09.002" : "26.09.003", false);
    const cut = await run("cut", "--all", "--commit");
    expect([cut.exitCode, cut.stderr + cut.stdout]).toEqual([0, expect.stringContaining("Committed as")]);
    expect(await git("status", "--porcelain", "releases/ledger.jsonl")).toBe("");
  }
  expect(await gitIn(other, "rev-parse", "HEAD")).toBe(before);
});

test("a replace ref hides no rewritten ledger", async () => {
  const ledger = join(project.folder, "releases/ledger.jsonl");
  await commitAll(project.folder);
  await git("push", "-q", "origin", "main");
  writeFileSync(ledger, readFileSync(ledger, "utf8").replaceAll("client-", "other-"));
  await commitAll(project.folder);
  await git("replace", "origin/main", "HEAD");
  const { exitCode, stdout } = await project.run("check");
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining("error[ledger-rewritten]")]);
});

test("a graft hides no parent", async () => {
  await commitAll(project.folder);
  await git("push", "-q", "origin", "main");
  writeFileSync(join(project.folder, ".git/info/grafts"), await git("rev-parse", "HEAD"));
  await project.succeed("check");
});

test("a user's status.showUntrackedFiles=no hides no uncommitted file from publish", async () => {
  await commitAll(project.folder);
  await git("push", "-q", "origin", "main");
  await project.make();
  await git("config", "status.showUntrackedFiles", "no");
  writeFileSync(join(project.folder, "releases/26.09.001/notes.md"), "");
  const { stderr } = await project.run("publish", "prod");
  expect(stderr).toContain("not committed: releases/26.09.001/notes.md");
});

test("git's trace is not taken for its answer", async () => {
  rmSync(join(project.folder, ".git"), { recursive: true });
  const env = { GIT_TRACE: "1", GIT_CEILING_DIRECTORIES: "/" };
  const { exitCode, stderr } = await relcat(project.folder, ["check"], { env });
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringContaining("not compared with origin/main: this folder is not in a git repository."),
  ]);
});
