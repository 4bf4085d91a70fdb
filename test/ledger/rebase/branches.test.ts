/** @module-tag long */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyOfProject } from "../../support/project.ts";
import { relcat, temporaryFolder } from "../../support/run.ts";
import {
  commitAll,
  conflicting,
  cutBranch,
  cutRelease,
  ledgerText,
  records,
  settledProject,
  soundLedger,
} from "./branches.ts";

const early = "2026-09-02T10:00:00Z";
const late = "2026-09-03T10:00:00Z";
const after = "2026-09-04T10:00:00Z";

const joined = [
  "1 26.08.001 tool-26.08.001.msi",
  "2 26.08.001 tool-26.08.001.rpm",
  "3 26.09.001 tool-26.09.001.msi",
  "4 26.09.001 tool-26.09.001.rpm",
  "5 26.09.002 tool-26.09.002.msi",
  "6 26.09.002 tool-26.09.002.rpm",
];

/** Two branches that cut; the first one is merged, the second one is checked out. */
const bothCut = () =>
  copyOfProject("both cut", async () => {
    const made = await settledProject();
    await cutBranch(made, "first", "26.09.001", "3", early);
    await cutBranch(made, "second", "26.09.002", "4", late);
    await made.git("switch", "--quiet", "main");
    await made.git("merge", "--quiet", "first");
    await made.git("switch", "--quiet", "second");
    return made;
  });

test("a merge of main gives the second branch's lines new ids and dates", async () => {
  const made = await bothCut();
  await conflicting(made, "merge", "main");
  const { stdout, stderr, exitCode } = await made.run("ledger", "rebase", "--now", after);
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: [
      "Kept the lines of main; 2 lines of ours follow, dated 2026-09-04T10:00:00.000000Z or later:",
      "  3 → 5  26.09.002  msi  tool-26.09.002.msi",
      "  4 → 6  26.09.002  rpm  tool-26.09.002.rpm",
    ].join("\n"),
    stderr:
      "Next: git add releases/ledger.jsonl, then git merge --continue, then relcat check --ledger-base main; earlier plans no longer apply: run relcat plan",
    exitCode: 0,
  });
  expect(ledgerText(made).startsWith(await made.git("show", "main:releases/ledger.jsonl"))).toBe(true);
  expect(records(made)).toEqual(joined);
  await commitAll(made, "Merge main");
  const checked = await made.run("check", "--ledger-base", "main");
  expect(checked.stdout).toContain("the ledger only grew since main");
  expect(checked.exitCode).toBe(0);
});

test("check reports a ledger that git could not merge, until it is rebased", async () => {
  const made = await bothCut();
  await conflicting(made, "merge", "main");
  const unresolved =
    "releases/ledger.jsonl:1:1 error[ledger-conflict-marker] a merge conflict is not resolved: git left one side of the ledger, without the lines of the other\n" +
    "  hint: Run relcat ledger rebase: it keeps the base's lines and puts ours after them.\n";
  const before = await made.run("check");
  expect(before.exitCode).toBe(1);
  expect(before.stdout).toContain(unresolved);
  await made.succeed("ledger", "rebase");
  expect((await made.run("check")).stdout).not.toContain("ledger-conflict-marker");
  await commitAll(made, "Merge main");
  await made.succeed("check");
});

test("a second ledger rebase changes nothing", async () => {
  const made = await bothCut();
  await conflicting(made, "merge", "main");
  await made.succeed("ledger", "rebase");
  const text = ledgerText(made);
  const again = await made.run("ledger", "rebase");
  expect(again.stdout).toBe("Nothing to rebase: the ledger already begins with every line of main.");
  await made.git("add", ".");
  await made.succeed("ledger", "rebase");
  await commitAll(made, "Merge main");
  expect((await made.run("ledger", "rebase")).stdout).toBe(
    "Nothing to rebase: the ledger already begins with every line of main.",
  );
  expect(ledgerText(made)).toBe(text);
});

test("a merge into main keeps the ids of the checked out branch", async () => {
  const made = await bothCut();
  await made.git("switch", "--quiet", "main");
  await conflicting(made, "merge", "second");
  await made.succeed("ledger", "rebase");
  expect(records(made)).toEqual(joined);
});

test("a git older than 2.31, which has no --path-format, is asked about a rebase too", async () => {
  const made = await bothCut();
  await conflicting(made, "rebase", "main");
  const programs = temporaryFolder();
  const git = execFileSync("which", ["git"], { encoding: "utf8" }).trim();
  // It prints what it does not know, as git does.
  const script = `for word; do shift; case $word in --path-format=*) echo "$word";; *) set -- "$@" "$word";; esac; done`;
  writeFileSync(join(programs, "git"), `#!/bin/sh\n${script}\nexec ${git} "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${programs}:${process.env.PATH}` };
  const { exitCode, stderr } = await relcat(made.folder, ["ledger", "rebase"], { env });
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("git rebase --continue")]);
});

test("git rebase gives new ids to each of its commits", async () => {
  const made = await bothCut();
  await cutRelease(made, "26.09.003", "5", late);
  await made.succeed("retract", "3", "--reason", "Does not start.", "--replaced-by", "5", "--yes");
  await commitAll(made, "Withdraw");
  await conflicting(made, "rebase", "main");
  const { stderr } = await made.succeed("ledger", "rebase");
  expect(stderr).toContain("git rebase --continue");
  for (const next of [2, 1, 0]) {
    await made.git("add", ".");
    const goOn = ["-c", "core.editor=true", "rebase", "--continue"];
    if (next === 0) await made.git(...goOn);
    else {
      await conflicting(made, ...goOn);
      await made.succeed("ledger", "rebase");
    }
  }
  expect(records(made)).toEqual([
    ...joined,
    "7 26.09.003 tool-26.09.003.msi",
    "8 26.09.003 tool-26.09.003.rpm",
  ]);
  expect(soundLedger(made).byId.get(5)?.retraction).toMatchObject({
    reason: "Does not start.",
    replaced_by: 7,
  });
  expect((await made.run("check", "--ledger-base", "main")).exitCode).toBe(0);
});

test("git cherry-pick gives new ids to the commit", { tags: ["long"] }, async () => {
  const made = await bothCut();
  await made.git("switch", "--quiet", "main");
  await conflicting(made, "cherry-pick", "second");
  expect((await made.succeed("ledger", "rebase")).stderr).toContain("git cherry-pick --continue");
  expect(records(made)).toEqual(joined);
});

test("three branches are merged in turn", { tags: ["long"] }, async () => {
  const made = await bothCut();
  await cutBranch(made, "third", "26.09.003", "5", early);
  for (const branch of ["second", "third"]) {
    await made.git("switch", "--quiet", branch);
    await conflicting(made, "merge", "main");
    await made.succeed("ledger", "rebase");
    await commitAll(made, "Merge main");
    await made.git("switch", "--quiet", "main");
    await made.git("merge", "--quiet", "--ff-only", branch);
  }
  expect(records(made)).toEqual([
    ...joined,
    "7 26.09.003 tool-26.09.003.msi",
    "8 26.09.003 tool-26.09.003.rpm",
  ]);
  expect((await made.run("check")).exitCode).toBe(0);
});

test("without a merge under way, the file is placed after the lines of the revision", async () => {
  const made = await bothCut();
  const { stderr } = await made.succeed("ledger", "rebase");
  expect(stderr).toBe(
    "Next: commit releases/ledger.jsonl, then git merge main to get the releases of its lines; earlier plans no longer apply: run relcat plan",
  );
  expect(records(made)).toEqual(joined);
  await commitAll(made, "Rebase the ledger");
  await conflicting(made, "merge", "main");
  expect((await made.run("ledger", "rebase")).stdout).toContain("Nothing to rebase");
});

test("--json prints a document, and private records are counted", async () => {
  const made = await bothCut();
  const hidden = { name: "inside.rpm", package_type: "rpm", sha256: "7".repeat(64), exclude_from_api: true };
  made.write("releases/26.09.002/manifests/inside.json", { release: "26.09.002", artifacts: [hidden] });
  await made.succeed("cut", "26.09.002", "--now", late);
  const { document, exitCode } = await made.json("ledger", "rebase", "--onto", "first", "--now", after);
  expect({ exitCode, ...document }).toEqual({
    exitCode: 0,
    schema_version: 1,
    dry_run: false,
    onto: "first",
    at: "2026-09-04T10:00:00.000000Z",
    lines: 3,
    moved: ["msi", "rpm"].map((type, index) => ({
      from: 3 + index,
      to: 5 + index,
      version: "26.09.002",
      package_type: type,
      name: `tool-26.09.002.${type}`,
      file: `tool-26.09.002.${type}`,
      already_there: false,
    })),
    private: 1,
    left_out: [],
    left_out_changes: [],
    cut_twice: [],
  });
});
