import { expect, test } from "vitest";
import { artifact, release } from "../support/project.ts";
import { commitAll, october, planOf, settledCatalog, settledProject, writeAll } from "./planning.ts";

const september = (...rest: object[]) =>
  release("26.09.001", [
    artifact("tool-26.09.001.msi", "msi", "3"),
    artifact("tool-26.09.001.rpm", "rpm", "4"),
    ...rest,
  ]);
const inside = (digit: string) => artifact("inside-26.09.001.rpm", "rpm", digit, { exclude_from_api: true });

/** Code, message and hint of forbidden changes. */
const forbiddenIn = async (...args: Parameters<typeof planOf>) =>
  (await planOf(...args)).forbidden.map(({ code, message, hint }) => [code, message, hint]);

test("changed bytes are forbidden, with the hint of check", async () => {
  const made = await settledProject();
  writeAll(
    made,
    release("26.08.001", [
      artifact("tool-26.08.001.msi", "msi", "a"),
      artifact("tool-26.08.001.rpm", "rpm", "2"),
    ]),
  );
  const { stdout } = await made.run("check");
  const [[code, message, hint] = []] = await forbiddenIn(made);
  expect(code).toBe("bytes-changed");
  expect(message).toBe(
    `"tool-26.08.001.msi" is published as id 1 and cannot change: checksum ${"1".repeat(64)} → ${"a".repeat(64)}`,
  );
  expect(stdout).toContain(`error[bytes-changed] ${message}\n`);
  expect(stdout).toContain(`  hint: ${hint}\n`);
  expect(hint).toMatch(/relcat new 26\.08.*relcat retract 1.*relcat uncut 26\.08\.001/);
});

test("a record that disappeared is removed, which is forbidden", async () => {
  const made = await settledProject();
  writeAll(made, release("26.08.001", [artifact("tool-26.08.001.msi", "msi", "1")]));
  const plan = await planOf(made);
  expect(plan.removed).toMatchObject([{ id: 2, name: "tool-26.08.001.rpm", forbidden: true }]);
  expect(plan.forbidden).toMatchObject([
    {
      code: "record-vanished",
      message: 'the ledger has "tool-26.08.001.rpm" of 26.08.001 as id 2, but no manifest names it',
      line: 2,
      column: 1,
    },
  ]);
});

test("a public record cannot become private", async () => {
  const made = await settledProject();
  writeAll(
    made,
    release("26.08.001", [
      artifact("tool-26.08.001.msi", "msi", "1", { exclude_from_api: true }),
      artifact("tool-26.08.001.rpm", "rpm", "2"),
    ]),
  );
  const plan = await planOf(made);
  expect(plan.forbidden).toMatchObject([{ code: "record-private" }]);
  expect(plan.removed).toMatchObject([{ id: 1, forbidden: true }]);
});

test("forbidden changes of private records are reported without details", async () => {
  const words = [
    "a private record with a permanent id and checksum was changed or removed",
    "relcat check names it and how to fix it.",
  ];
  const made = await settledProject();
  writeAll(made, september(inside("b")));
  expect(await forbiddenIn(made)).toEqual([["bytes-changed", ...words]]);
  writeAll(made, september());
  expect(await forbiddenIn(made)).toEqual([["record-vanished", ...words]]);
  expect(JSON.stringify(await planOf(made))).not.toContain("inside");
});

test("a ledger with edited settled lines is forbidden", async () => {
  const made = await settledProject();
  const [, ...others] = made.read("releases/ledger.jsonl").split("\n");
  await made.git("switch", "--quiet", "main");
  made.write(
    "releases/ledger.jsonl",
    [made.read("releases/ledger.jsonl").split("\n")[0]?.replace("2026-09-20", "2026-09-19"), ...others].join(
      "\n",
    ),
  );
  await commitAll(made);
  await made.git("switch", "--quiet", "work");
  expect(await forbiddenIn(made)).toEqual([
    [
      "ledger-rewritten",
      "the line differs from main, expected a ledger that only grows",
      `Restore it (git diff main -- ${made.folder}/releases/ledger.jsonl); events are appended, never changed.`,
    ],
  ]);
});

test("a branch that is behind is one problem, and not a removal of every missing record", async () => {
  const made = await settledProject();
  await made.git("switch", "--quiet", "main");
  writeAll(made, october);
  await made.succeed("cut", "--all", "--now", "2026-09-25T10:00:00Z");
  await commitAll(made);
  await made.git("switch", "--quiet", "work");
  const plan = await planOf(made);
  expect(plan.forbidden).toMatchObject([
    {
      code: "ledger-rewritten",
      message: "the ledger lacks the lines that main has after line 5",
      line: 6,
    },
  ]);
  expect(plan.removed).toEqual([]);
});

test("an id of two branches needs ledger rebase, and no withdrawal", { tags: ["long"] }, async () => {
  const made = await settledProject();
  await made.git("switch", "--quiet", "main");
  writeAll(made, october);
  await made.succeed("cut", "--all", "--now", "2026-09-25T10:00:00Z");
  await commitAll(made);
  await made.git("switch", "--quiet", "work");
  writeAll(made, release("26.11.001", [artifact("ours.rpm", "rpm", "9")]));
  await made.succeed("cut", "--all", "--now", "2026-09-26T10:00:00Z");
  const words = [
    "ledger-rewritten",
    "main has other lines after line 5 than the ledger here: both were written to",
    "Run git merge main, then relcat ledger rebase --onto main: it keeps those lines and puts ours after them, with the next ids.",
  ];
  const plan = await planOf(made);
  expect(plan.forbidden.map(({ code, message, hint }) => [code, message, hint])).toEqual([words]);
  expect(plan.removed).toEqual([]);
  const { stdout } = await made.run("check", "--ledger-base", "main");
  expect(stdout).toContain(`error[ledger-rewritten] ${words[1]}\n`);
  expect(stdout).toContain(`hint: ${words[2]}\n`);
  await commitAll(made);
  await made.git("merge", "--quiet", "main").catch(() => undefined);
  await made.succeed("ledger", "rebase", "--onto", "main");
  expect((await made.run("check", "--ledger-base", "main")).stdout).toContain(
    "the ledger only grew since main",
  );
});

test("a cut cannot be taken back after main has it", async () => {
  const made = await settledProject();
  await made.succeed("uncut", "26.09.001", "--ledger-base", "none");
  await made.git("rm", "--quiet", "-r", "releases/26.09.001");
  const plan = await planOf(made);
  expect(plan.forbidden.map(({ code }) => code)).toEqual(["ledger-rewritten"]);
  expect(plan.releases).toMatchObject([{ version: "26.09.001", change: "removed", date: null }]);
});

test("other errors are shown without a plan", async () => {
  const made = await settledProject();
  writeAll(made, { ...release("26.08.001", []), "releases/26.08.001/manifests/all.json": "{" });
  const run = made.run("plan");
  expect(await run).toMatchObject({ exitCode: 1, stdout: "" });
  expect((await run).stderr).toContain("error[json-syntax]");
});

test("forbidden changes end with exit status 1, under any option", async () => {
  const made = await settledProject({ ...settledCatalog });
  writeAll(made, release("26.08.001", [artifact("tool-26.08.001.msi", "msi", "1")]));
  const { stdout, stderr, exitCode } = await made.run("plan", "--detailed-exitcode");
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: "Next: undo the forbidden changes, then relcat plan",
  });
  const text = stdout.replace(/\([0-9a-f]{12}\)/, "(commit)").replace(/^Documents: [\s\S]*?(?=^The)/m, "");
  expect(text).toBe(`Compared with main (commit): 4 records.
Records: 1 forbidden and 1 removed.
Forbidden:
  releases/ledger.jsonl:2:1  record-vanished  the ledger has "tool-26.08.001.rpm" of 26.08.001 as id 2, but no manifest names it
     Restore its manifest in 26.08.001/manifests/: merge the branch that cut it, or restore the file. To withdraw it, keep the manifest and run relcat retract 2 --reason ….
Removed, which is forbidden:
  2  26.08.001  rpm  tool-26.08.001.rpm
The ledger gets no lines.`);
});

test("a forbidden change prevents the whole cut: the ledger gets no line", async () => {
  const made = await settledProject();
  writeAll(made, october);
  writeAll(made, release("26.08.001", [artifact("tool-26.08.001.msi", "msi", "1")]));
  const { stdout } = await made.run("plan");
  expect(stdout).toContain("\nAdded, with new ids");
  expect(stdout).toMatch(/\nThe ledger gets no lines while anything is forbidden\.$/);
  const before = made.read("releases/ledger.jsonl");
  expect((await made.run("cut", "--all")).exitCode).toBe(1);
  expect(made.read("releases/ledger.jsonl")).toBe(before);
});
