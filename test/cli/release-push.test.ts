/** @module-tag long */
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Project, project, release } from "../support/project.ts";
import { temporaryFolder } from "../support/run.ts";

interface Cloned extends Project {
  origin: string;
  /** Another clone of the same remote. */
  other: Project;
}

/** Two clones of a project with one open release, whose file is at its permanent site. */
async function cloned(): Promise<Cloned> {
  const site = join(temporaryFolder(), "www");
  const made = project({
    ".gitignore": "/dist/\n/out/\n.relcat-*\n",
    "releases/catalog.yaml": {
      ...{ product: "Example", require: {}, base_url: "https://downloads.example.com" },
      sites: { prod: { url: `dir:${site}` } },
    },
    ...release("26.09.001", []),
    "out/tool.msi": "hello",
  });
  await made.succeed("ingest", "out");
  await made.succeed("upload", "out/tool.msi");
  const origin = temporaryFolder();
  await made.git("init", "-q", "--bare", "-b", "main", origin);
  await made.git("init", "-q", "-b", "main");
  await made.git("remote", "add", "origin", origin);
  await named(made);
  await made.git("add", ".");
  await made.git("commit", "-qm", "Start");
  await made.git("push", "-q", "-u", "origin", "main");
  const other = project();
  await other.git("clone", "-q", origin, ".");
  await named(other);
  return { ...made, origin, other };
}

async function named({ git }: Project): Promise<void> {
  await git("config", "user.name", "Test");
  await git("config", "user.email", "test@example.com");
}

async function pushSomething({ write, git }: Project): Promise<void> {
  write("README.md", "Something else.\n");
  await git("add", ".");
  await git("commit", "-qm", "Something else");
  await git("push", "-q", "origin", "main");
}

test("release --push cuts, pushes and publishes with one command", async () => {
  const made = await cloned();
  // git's short name of the branch is heads/main then.
  await made.git("tag", "main");
  const dry = await made.succeed("release", "--push", "--dry-run");
  expect(dry.stderr).toContain("Would push to origin/main.");
  const { stdout, stderr } = await made.succeed("release", "--push", "--yes");
  expect(stdout).toMatch(/\nReleased to prod\.$/);
  expect(stderr).toContain("origin/main has the ledger.");
  expect(stderr).not.toContain("error");
  expect(await made.git("rev-parse", "HEAD")).toBe(
    await made.git("ls-remote", "origin", "main").then((line) => line.slice(0, 40)),
  );
  expect((await made.succeed("release", "--push", "--yes")).stdout).toContain("prod was up to date");
});

test("a remote that moved is noticed before the cut, and the same command continues after the merge", async () => {
  const made = await cloned();
  await pushSomething(made.other);
  const refused = await made.run("release", "--push", "--yes");
  expect([refused.exitCode, refused.stdout, refused.stderr]).toEqual([
    3,
    "[1/6] check",
    expect.stringContaining(
      "error[ledger-unpushed] git push origin main was refused: [rejected] (fetch first)\n",
    ),
  ]);
  expect(refused.stderr).toContain("hint: Nothing was cut or published.");
  expect(refused.stderr).toMatch(/\nNext: git merge origin\/main, then relcat release --yes --push$/);
  expect(made.list("releases")).not.toContain("ledger.jsonl");
  await made.git("merge", "-q", "--no-edit", "origin/main");
  expect((await made.succeed("release", "--push", "--yes")).stdout).toMatch(/Released to prod\.$/);
});

test("a push that the remote refuses after the cut publishes nothing, and the next run continues", async () => {
  const made = await cloned();
  const hook = join(made.origin, "hooks/pre-receive");
  writeFileSync(hook, "#!/bin/sh\necho 'main is protected' >&2\nexit 1\n");
  chmodSync(hook, 0o755);
  const refused = await made.run("release", "--push", "--yes");
  expect([refused.exitCode, refused.stderr]).toEqual([
    3,
    expect.stringContaining(
      "error[ledger-unpushed] git push origin main was refused: [remote rejected] (pre-receive hook declined); main is protected\n",
    ),
  ]);
  expect(refused.stderr).toContain("hint: The cut is committed here, and nothing was published.");
  expect(refused.stderr).toMatch(/\nNext: relcat release --yes --push, when that is repaired$/);
  expect(made.list("dist")).toEqual([]);
  expect((await made.run("history", "prod")).stderr).toContain("nothing was published to prod yet");
  rmSync(hook);
  const { stdout } = await made.succeed("release", "--push", "--yes");
  expect(stdout).toContain("Nothing to cut: everything is already permanent.");
  expect(stdout).toMatch(/Released to prod\.$/);
});

test("--push is refused before the cut on another branch, without the remote, and outside a repository", async () => {
  const made = await cloned();
  await made.git("switch", "-qc", "topic");
  const cases: [prepare: () => Promise<unknown>, status: number, line: string][] = [
    [
      async () => {},
      2,
      "error[usage] --push works on the branch of origin/main, and topic is checked out here",
    ],
    [
      () => made.git("switch", "-q", "--detach"),
      2,
      "error[usage] --push works on the branch of origin/main, and no branch is checked out here",
    ],
    [
      async () => {
        await made.git("switch", "-q", "main");
        rmSync(made.origin, { recursive: true });
      },
      3,
      "error[ledger-unpushed] git push origin main was refused: ",
    ],
    [
      async () => rmSync(join(made.folder, ".git"), { recursive: true }),
      2,
      "error[usage] --push works on the branch of origin/main, and no branch is checked out here",
    ],
  ];
  for (const [prepare, status, line] of cases) {
    await prepare();
    const { exitCode, stderr } = await made.run("release", "--push", "--yes");
    expect([exitCode, stderr]).toEqual([status, expect.stringContaining(line)]);
    expect(made.list("releases")).not.toContain("ledger.jsonl");
  }
});
