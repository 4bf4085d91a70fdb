/** @module-tag long */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { some } from "../../support/effort.ts";
import { artifact, copyOfProject, project, release, smallCatalog } from "../../support/project.ts";
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

const joined = [
  "1 26.08.001 tool-26.08.001.msi",
  "2 26.08.001 tool-26.08.001.rpm",
  "3 26.09.001 tool-26.09.001.msi",
  "4 26.09.001 tool-26.09.001.rpm",
  "5 26.09.002 tool-26.09.002.msi",
  "6 26.09.002 tool-26.09.002.rpm",
];

/** main and a branch both cut; the branch is checked out. */
const grownApart = (more = {}) =>
  copyOfProject(`grown apart ${JSON.stringify(more)}`, async () => {
    const made = await settledProject(more);
    await cutBranch(made, "ours", "26.09.002", "4", late);
    await made.git("switch", "--quiet", "main");
    await cutRelease(made, "26.09.001", "3", early);
    await made.git("switch", "--quiet", "ours");
    return made;
  });

test.each([
  ["markers", ""],
  ["markers with the common lines", "diff3"],
])("ledger rebase resolves a conflict %s in the middle of a merge", async (_, style) => {
  const made = await grownApart({ ".gitattributes": "* text=auto\n" });
  await conflicting(made, "-c", `merge.conflictStyle=${style || "merge"}`, "merge", "main");
  expect(ledgerText(made)).toContain("<<<<<<< HEAD");
  const checked = await made.run("check");
  expect(checked.stdout).toContain("error[ledger-conflict-marker] a merge conflict is not resolved");
  expect(checked.stdout).toContain("  hint: Run relcat ledger rebase: ");
  await made.succeed("ledger", "rebase");
  expect(records(made)).toEqual(joined);
});

test.each(some(["merge", "diff3"], 2))(
  "ledger rebase resolves committed markers in the style %s",
  async (style) => {
    const made = await grownApart({ ".gitattributes": "* text=auto\n" });
    await conflicting(made, "-c", `merge.conflictStyle=${style}`, "merge", "main");
    await commitAll(made, "Merge main, in a hurry");
    expect((await made.succeed("ledger", "rebase")).stdout).toContain("Kept the lines of main;");
    expect(records(made)).toEqual(joined);
  },
);

test("ledger rebase resolves markers of a stash", { tags: ["long"] }, async () => {
  const made = await settledProject({ ".gitattributes": "* text=auto\n" });
  for (const [path, content] of Object.entries(release("26.09.002", [artifact("b.msi", "msi", "4")])))
    made.write(path, content);
  await made.succeed("cut", "26.09.002");
  await made.git("stash", "--include-untracked", "--quiet");
  await cutRelease(made, "26.09.001", "3", early);
  await conflicting(made, "stash", "pop");
  await made.succeed("ledger", "rebase");
  expect(records(made).at(-1)).toBe("5 26.09.002 b.msi");
});

const sides = [
  ["ours", "--ours"],
  ["theirs", "--theirs"],
] as const;

test.each(some(sides, 2))(
  "ledger rebase repairs a merge that was resolved by taking %s",
  async (_, option) => {
    const made = await grownApart();
    await conflicting(made, "merge", "main");
    await made.git("checkout", option, "releases/ledger.jsonl");
    await made.git("add", ".");
    await made.succeed("ledger", "rebase");
    expect(records(made)).toEqual(joined);
  },
);

test("ledger rebase repairs a merge that was committed with our ledger", { tags: ["long"] }, async () => {
  const made = await grownApart();
  await conflicting(made, "merge", "main");
  await commitAll(made, "Merge main, our ledger");
  expect((await made.run("check", "--ledger-base", "main")).stdout).toContain("error[ledger-rewritten]");
  await made.succeed("ledger", "rebase");
  expect(records(made)).toEqual(joined);
  expect((await made.run("check", "--ledger-base", "main")).exitCode).toBe(0);
});

test("ledger rebase keeps uncommitted lines as ours", async () => {
  const made = await grownApart();
  await conflicting(made, "merge", "main");
  await made.succeed("retract", "3", "--reason", "Broken.", "--yes");
  await made.succeed("ledger", "rebase");
  expect(soundLedger(made).byId.get(5)?.retraction?.reason).toBe("Broken.");
  expect(soundLedger(made).byId.get(3)?.retraction).toBeNull();
});

test("ledger rebase refuses lines that continue neither side", async () => {
  const made = await grownApart();
  await conflicting(made, "merge", "main");
  const line =
    '{"event":"retract","id":1,"reason":"Broken.","replaced_by":null,"at":"2026-09-05T10:00:00.000000Z"}';
  const [first = ""] = ledgerText(made).split("\n");
  writeFileSync(join(made.folder, "releases/ledger.jsonl"), `${first}\n${line}\n`);
  const { stderr, exitCode } = await made.run("ledger", "rebase");
  expect({ stderr, exitCode }).toEqual({
    stderr:
      "error[rebase-conflict] the ledger has a line that neither main nor HEAD has\n" +
      "  hint: Put them aside, run git checkout --merge releases/ledger.jsonl, then this again; then repeat what wrote them.",
    exitCode: 1,
  });
});

test("--onto selects the side whose ids remain if neither is settled", async () => {
  const made = await grownApart();
  await made.git("switch", "--quiet", "--create", "other", "main~1");
  await cutRelease(made, "26.09.003", "5", late);
  await conflicting(made, "merge", "ours");
  expect(await made.run("ledger", "rebase")).toMatchObject({
    stderr:
      "error[rebase-conflict] neither HEAD nor ours has all ledger lines of main\n" +
      "  hint: Give up this merge and merge main first; or choose whose ids stay: --onto HEAD or --onto ours.",
    exitCode: 1,
  });
  await made.succeed("ledger", "rebase", "--onto", "MERGE_HEAD");
  expect(records(made).slice(2)).toEqual([
    "3 26.09.002 tool-26.09.002.msi",
    "4 26.09.002 tool-26.09.002.rpm",
    "5 26.09.003 tool-26.09.003.msi",
    "6 26.09.003 tool-26.09.003.rpm",
  ]);
});

test("ledger rebase refuses a ledger that one side deleted", async () => {
  const made = await grownApart();
  await made.git("rm", "--quiet", "releases/ledger.jsonl");
  await made.git("commit", "--quiet", "--message", "Delete it");
  await conflicting(made, "merge", "main");
  expect(await made.run("ledger", "rebase")).toMatchObject({
    stderr:
      "error[rebase-conflict] one side of the merge deleted the ledger\n" +
      "  hint: Restore it first: git checkout --theirs releases/ledger.jsonl",
    exitCode: 1,
  });
});

test("ledger rebase refuses an unknown revision, and needs git", async () => {
  const made = await grownApart();
  expect(await made.run("ledger", "rebase", "--onto", "origin/release")).toMatchObject({
    stderr:
      "error[git-revision] git does not know the revision origin/release\n" +
      "  hint: The repository has no remote yet. Another one is named with --onto, for good with ledger: { base: … } in catalog.yaml.",
    exitCode: 2,
  });
  const plain = project(smallCatalog);
  await plain.succeed("cut", "--all");
  expect(await plain.run("ledger", "rebase")).toMatchObject({
    stderr:
      "error[git-revision] this folder is not in a git repository, so origin/main cannot be looked up\n" +
      "  hint: Run it in a clone.",
    exitCode: 2,
  });
});
