/** @module-tag long */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../support/run.ts";
import { addRelease, commitAll, gitIn, type PublishingProject, publishingProject } from "./support.ts";

let project: PublishingProject;
const git = (...args: string[]) => gitIn(project.folder, ...args);
const file = (path: string) => join(project.folder, "releases", path);
const live = () => readFileSync(join(project.www, "current/releases/26.08.001/index.html"), "utf8");

/** Edits a note of a live release. */
function edit(text: string): void {
  const release = file("26.08.001/release.yaml");
  writeFileSync(release, readFileSync(release, "utf8").replace(/in bulk; .*/, `in bulk; ${text}`));
}

beforeEach(async () => {
  project = await publishingProject({
    trust: "none",
    sites: (folder) =>
      `  prod: {url: "dir:${folder}/www"}\n  staging: {url: "dir:${folder}/stage", settles: false}\n`,
  });
  await git("init", "-q", "-b", "main");
  await commitAll(project.folder);
  await project.succeed("publish", "prod");
});

test("publish refuses an uncommitted note of a live release, and names the files and the commands", async () => {
  edit("not yet committed.");
  await project.make();
  for (const more of [[], ["--dry-run"], ["--allow-unpushed", "No forge."]]) {
    const { exitCode, stderr } = await project.run("publish", "prod", ...more);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      "error[content-uncommitted] the site would show files that are not committed: releases/26.08.001/release.yaml\n" +
        "  hint: Commit and push them: git add releases/26.08.001/release.yaml, then git commit, then git push. To publish anyway: --allow-uncommitted REASON",
    );
  }
  expect(live()).not.toContain("not yet committed");
  await project.succeed("publish", "staging");
  await commitAll(project.folder);
  await project.succeed("publish", "prod");
  expect(live()).toContain("not yet committed");
  expect(project.state().history[0]).not.toHaveProperty("uncommitted");
});

test("release refuses it before it cuts anything", async () => {
  await addRelease(project, "26.09.001", false);
  edit("not yet committed.");
  const before = readFileSync(file("ledger.jsonl"), "utf8");
  for (const more of [[], ["--dry-run"]]) {
    const { exitCode, stderr } = await project.run("release", "prod", "--all", ...more);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining("not committed: releases/26.08.001/release.yaml\n"),
    ]);
  }
  expect(readFileSync(file("ledger.jsonl"), "utf8")).toBe(before);
});

test("release commits what it cuts, and --allow-uncommitted publishes the rest", async () => {
  await addRelease(project, "26.09.001", false);
  edit("not yet committed.");
  const reason = "The forge is down.";
  const stored = join(project.folder, "www/files/26.09.001");
  mkdirSync(stored, { recursive: true });
  writeFileSync(join(stored, "client-26.09.001.rpm"), Buffer.alloc(12));
  await project.succeed("release", "prod", "--all", "--allow-uncommitted", reason);
  expect(await git("show", "--stat", "--format=%s", "HEAD")).toMatch(/Cut 26.09.001[\s\S]*one.json/);
  expect(live()).toContain("not yet committed");
  expect(project.state()).toMatchObject({ commit: null, history: [{ uncommitted: reason }, {}] });
  expect((await project.succeed("history", "prod")).stdout).toContain(
    `published without a commit: ${reason}`,
  );
});

test("a withdrawal that is not committed is refused by publish, and committed by release", async () => {
  await project.succeed("retract", "5", "--reason", "Broken.", "--yes");
  await project.make();
  const { exitCode, stderr } = await project.run("publish", "prod");
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("not committed: releases/ledger.jsonl\n")]);
  await project.succeed("release", "prod", "--all", "--dry-run");
  await project.succeed("release", "prod", "--all");
  expect(live()).toContain("Broken.");
});

test("unfinished releases and notes, readmes and hidden files may be uncommitted", async () => {
  await addRelease(project, "26.09.001", false);
  mkdirSync(file("next/notes"), { recursive: true });
  writeFileSync(file("next/notes/one.yaml"), "component: server\nkind: fix\ntext: Later.\n");
  writeFileSync(file("README.md"), "For people.");
  writeFileSync(file("26.08.001/.notes.swp"), "");
  edit("committed.");
  await git("commit", "-qam", "Correct a note");
  await project.make();
  await project.succeed("publish", "prod");
  expect(project.state().commit).toBe(await git("rev-parse", "HEAD"));
});

test("files that git ignores, and a repository without a commit, are uncommitted", async () => {
  writeFileSync(join(project.folder, ".gitignore"), "more.yaml\n");
  mkdirSync(file("26.08.001/notes"), { recursive: true });
  writeFileSync(file("26.08.001/notes/more.yaml"), "component: server\nkind: fix\ntext: More.\n");
  const ignored = await project.run("publish", "prod");
  expect(ignored.stderr).toContain("not committed: releases/26.08.001/notes/more.yaml\n");
  rmSync(join(project.folder, ".git"), { recursive: true });
  await git("init", "-q", "-b", "main");
  const first = await project.run("publish", "prod");
  expect(first.stderr).toMatch(/not committed: releases\/.* and \d+ more\n {2}hint: .*git add releases,/);
});

test("a build of a clean checkout is published from another clean checkout", async () => {
  const other = join(temporaryFolder(), "other");
  await git("clone", "-q", ".", other);
  edit("built elsewhere.");
  await commitAll(project.folder);
  await project.make();
  const built = join(project.folder, "dist");
  await gitIn(other, "pull", "-q");
  const { exitCode } = await project.run("-C", other, "publish", "prod", "--out", built);
  expect(exitCode).toBe(0);
  expect(live()).toContain("built elsewhere");
});

test("--allow-uncommitted needs a reason, and --refresh publishes no files", async () => {
  const empty = await project.run("publish", "prod", "--allow-uncommitted", " ");
  expect([empty.exitCode, empty.stderr]).toEqual([2, expect.stringContaining("the reason is empty")]);
  const refresh = await project.run("publish", "prod", "--refresh", "--allow-uncommitted", "Why not.");
  expect([refresh.exitCode, refresh.stderr]).toEqual([2, expect.stringContaining("--allow-uncommitted out")]);
});
