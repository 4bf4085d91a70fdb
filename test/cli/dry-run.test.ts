import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { conflicting, cutBranch, settledProject } from "../ledger/rebase/branches.ts";
import { artifact, cutCatalog, type Project, project, release, smallCatalog } from "../support/project.ts";

/** Every file of the project with its content, including locks and other working files. */
function everything({ folder }: Project): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => !path.startsWith(".git/") && statSync(join(folder, path)).isFile())
    .sort();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

/** Proves that a command writes nothing with --dry-run, and writes without it. */
async function runDry(made: Project, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const before = everything(made);
  const { stdout, stderr } = await made.succeed(...args, "--dry-run");
  expect((await made.json(...args, "-n")).document).toMatchObject({ dry_run: true });
  expect(everything(made)).toEqual(before);
  await made.succeed(...args, ...(["retract", "reinstate"].includes(args[0] ?? "") ? ["--yes"] : []));
  expect(everything(made)).not.toEqual(before);
  return { stdout, stderr };
}

const next = "Next: the same without --dry-run";

test("cut shows the ids, and asks for no confirmation", async () => {
  const { stdout, stderr } = await runDry(
    project(smallCatalog),
    "cut",
    "--all",
    "--now",
    "2026-09-20T10:00:00Z",
  );
  expect(stdout).toMatch(
    /^Dry run, nothing was written:\nNew ids, dated 2026-09-20T10:00:00\.000000Z:\n {2}1 {2}26\.08\.001/,
  );
  expect(stderr).toBe(next);
  expect((await project(smallCatalog).run("cut", "-n")).stdout).toContain("26.09.001");
});

test("cut has the errors and the exit status of a real cut", async () => {
  const made = project(smallCatalog);
  expect(await made.run("cut", "26.11.001", "-n")).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("version-unknown"),
  });
  expect(await made.run("cut", "--all", "-n", "--body", "body.md")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--body writes a file, but --dry-run writes nothing"),
  });
});

test("retract and reinstate name the records, and ask for no confirmation", async () => {
  const made = await cutCatalog();
  const retracted = await runDry(made, "retract", "26.08.001", "--reason", "Broken.");
  expect(retracted.stdout).toBe("Would retract 2 records; nothing was written.");
  expect(retracted.stderr).toContain("To be retracted: 2 records\n  1  26.08.001  msi");
  const reinstated = await runDry(made, "reinstate", "1");
  expect(reinstated.stdout).toBe("Would reinstate 1 record; nothing was written.");
  expect(await made.run("reinstate", "1", "-n")).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("nothing-to-reinstate"),
  });
});

test("uncut names the lines and ids", async () => {
  const { stdout } = await runDry(await cutCatalog(), "uncut", "26.09.001", "--ledger-base", "none");
  expect(stdout).toBe(
    "Would undo the cut: remove 3 ledger lines of 26.09.001 and free the ids 3 to 5; nothing was written.",
  );
});

test("ledger rebase names the new ids", { tags: ["long"] }, async () => {
  const made = await settledProject();
  await cutBranch(made, "one", "26.09.001", "3", "2026-09-02T10:00:00Z");
  await cutBranch(made, "two", "26.10.001", "4", "2026-09-03T10:00:00Z");
  await conflicting(made, "merge", "one");
  const { stdout } = await runDry(made, "ledger", "rebase");
  expect(stdout).toMatch(/^Dry run, nothing was written:\nKept the lines of .*; 2 lines of ours follow/);
  expect(stdout).toContain("3 → 5");
});

test("import counts the records, and makes no folder", async () => {
  const built = await cutCatalog();
  await built.succeed("build", "--released");
  const list = built.read("dist/api/v1/package/index.json");
  const { stdout } = await runDry(
    project({ "list.json": list }),
    "import",
    "list.json",
    "--accept-violations",
  );
  expect(stdout).toMatch(/^Dry run, nothing was written:\nImported 4 new records into 2 releases/);
});

test("ingest names the manifest and measures its artifacts", async () => {
  const made = project({ ...release("26.10.001", [artifact("other.rpm", "rpm")]), "out/tool.rpm": "tool" });
  const { stdout } = await runDry(made, "ingest", "--release", "26.10.001", "out");
  expect(stdout).toMatch(
    /^Would write releases\/26\.10\.001\/manifests\/build-[0-9a-f]{8}\.json with 1 artifact\n {2}rpm {2}tool\.rpm {2}4 bytes/,
  );
});
