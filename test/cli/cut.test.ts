import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  artifact,
  cutCatalog,
  firstCut,
  note,
  type Project,
  project,
  release,
  smallCatalog,
} from "../support/project.ts";
import { relcat } from "../support/run.ts";
import { atTerminal, hasTerminal } from "../support/terminal.ts";

const stamp = "2026-09-20T10:00:00.000000Z";

test("prints the new ids, counts private records, and says how permanent the ids are", async () => {
  const { run, read } = project(smallCatalog);
  const { stdout, stderr, exitCode } = await run("cut", "--all", "--now", firstCut);
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: [
      `New ids, dated ${stamp}:`,
      "  1  26.08.001  msi  tool-26.08.001.msi",
      "  2  26.08.001  rpm  tool-26.08.001.rpm",
      "  3  26.09.001  msi  tool-26.09.001.msi",
      "  5  26.09.001  rpm  tool-26.09.001.rpm",
      "1 private record got an id.",
    ].join("\n"),
    stderr: [
      "Until origin/main has these ledger lines, their ids may still change.",
      "Next: commit releases/, then relcat build --released",
    ].join("\n"),
    exitCode: 0,
  });
  expect(read("releases/ledger.jsonl").split("\n").length).toBe(6);
});

describe("without versions", () => {
  const due = "26.08.001 (2 records) and 26.09.001 (3 records)";

  test.each([[[]], [["--commit"]], [["--json"]]])("refuses %j without a terminal", async (args) => {
    const made = project(smallCatalog);
    await made.git("init", "--quiet");
    const { stderr, exitCode } = await made.run("cut", ...args);
    expect({ stderr, exitCode }).toEqual({
      stderr:
        "error[not-confirmed] no versions were given, and there is no terminal to ask on; nothing was cut\n" +
        `  hint: Name versions, or give --all to cut all of these: ${due}.`,
      exitCode: 2,
    });
    expect(made.list("releases")).not.toContain("ledger.jsonl");
  });

  test("refuses even if nothing is due, so that a job fails on its first run", async () => {
    const { run } = await cutCatalog();
    expect(await run("cut")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("\n  hint: Name versions, or give --all. There is nothing to cut now."),
    });
  });

  test("refuses --all together with a version or a plan", async () => {
    const { run, succeed } = project(smallCatalog);
    await succeed("plan", "--out", "plan.json");
    expect((await run("cut", "--all", "26.08.001")).stderr).toBe(
      "error[usage] --all cuts every release, but a version selects some\n  hint: Give one of them.",
    );
    expect((await run("cut", "--all", "--plan", "plan.json")).stderr).toBe(
      "error[usage] --all cuts every release, but --plan selects some\n  hint: Give one of them.",
    );
  });

  test.skipIf(!hasTerminal)(
    "asks at a terminal, and names each release with its records",
    { tags: ["long"] },
    async () => {
      const { folder, list } = project(smallCatalog);
      const no = await atTerminal(folder, ["cut"], "n\n");
      expect(no.text).toContain(
        "To be made permanent:\n  26.08.001  2 records\n  26.09.001  3 records\nCut them? [y/N] ",
      );
      expect(no.text).toMatch(/\[y\/N\] n\nNothing was changed\.\n$/);
      expect(no.text).not.toContain("error");
      expect([no.exitCode, list("releases").includes("ledger.jsonl")]).toEqual([9, false]);
      const yes = await atTerminal(folder, ["cut"], "y\n");
      expect([yes.exitCode, list("releases").includes("ledger.jsonl")]).toEqual([0, true]);
      expect((await atTerminal(folder, ["cut"], "")).text).toContain(
        "Nothing to cut: everything is already permanent",
      );
    },
  );
});

test("--json prints the new ids as a document", async () => {
  const { exitCode, document } = await project(smallCatalog).json("cut", "26.08.001", "--now", firstCut);
  expect({ exitCode, ...document }).toEqual({
    exitCode: 0,
    schema_version: 1,
    dry_run: false,
    at: stamp,
    added: [
      {
        id: 1,
        version: "26.08.001",
        package_type: "msi",
        name: "tool-26.08.001.msi",
        file: "tool-26.08.001.msi",
      },
      {
        id: 2,
        version: "26.08.001",
        package_type: "rpm",
        name: "tool-26.08.001.rpm",
        file: "tool-26.08.001.rpm",
      },
    ],
    revised: [],
    private: { added: 0, revised: 0 },
    commit: null,
    subject: null,
    settled_by: "origin/main",
  });
});

test("cut reports that there is nothing to cut, and names a release without artifacts", async () => {
  const { run, write } = await cutCatalog();
  expect(await run("cut", "--all")).toMatchObject({
    exitCode: 0,
    stdout: "Nothing to cut: everything is already permanent.",
  });
  for (const [path, content] of Object.entries(release("26.10.001", []))) write(path, content);
  expect(await run("cut", "--all")).toMatchObject({
    exitCode: 0,
    stdout: "Nothing to cut: 26.10.001 has no artifacts yet.",
  });
});

test("cut adds a revision for a changed description, and needs --allow-revise for many", async () => {
  const { run, write } = await cutCatalog();
  const edited = [
    artifact("tool-26.08.001.msi", "msi", "1", { description: "Better" }),
    artifact("tool-26.08.001.rpm", "rpm", "2"),
  ];
  write("releases/26.08.001/manifests/all.json", { release: "26.08.001", artifacts: edited });
  const refused = await run("cut", "--all", "--allow-revise", "0");
  expect(refused).toMatchObject({
    exitCode: 1,
    stderr:
      "error[revise-limit] 1 published records would change, expected at most 0\n" +
      "  hint: A changed default or wire name in catalog.yaml does this; if it is meant, run with --allow-revise 1.",
  });
  const { stdout, exitCode } = await run("cut", "--all");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^Revised, dated .+:\n {2}1 {2}26\.08\.001 {2}msi {2}tool-26\.08\.001\.msi$/);
});

test("cut refuses an incomplete release unless it is allowed", async () => {
  const { run } = project({ ...smallCatalog, "releases/catalog.yaml": { require: {}, expected: ["pkg"] } });
  const { stderr, exitCode } = await run("cut", "26.09.001");
  expect(exitCode).toBe(1);
  expect(stderr).toContain("error[artifact-missing] 26.09.001 lacks pkg, which catalog.yaml expects\n");
  expect((await run("cut", "26.09.001", "--allow-incomplete")).exitCode).toBe(0);
});

test("cut refuses an unknown version", async () => {
  expect(await project(smallCatalog).run("cut", "26.11.001")).toMatchObject({
    exitCode: 1,
    stderr:
      "error[version-unknown] there is no release 26.11.001\n  hint: See releases/ for the existing versions.",
  });
});

describe("the date of the lines", () => {
  const dated = async (epoch: string, ...args: string[]) => {
    const { folder } = project(smallCatalog);
    return relcat(folder, ["cut", "--all", "--json", ...args], { env: { SOURCE_DATE_EPOCH: epoch } });
  };

  test("is that of SOURCE_DATE_EPOCH, which --now overrides", async () => {
    expect(JSON.parse((await dated("1789898400")).stdout).at).toBe(stamp);
    expect(JSON.parse((await dated("315532800", "--now", firstCut)).stdout).at).toBe(stamp);
  });

  test("cannot be before 2015: the message names the variable", async () => {
    const { stderr, exitCode } = await dated("315532800");
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      "error[clock] SOURCE_DATE_EPOCH gives 1980-01-01T00:00:00.000000Z, expected a time after 2015\n",
    );
    expect(stderr).toContain("unset SOURCE_DATE_EPOCH");
  });

  test("is that of the clock if the variable is empty", async () => {
    expect((await dated("")).exitCode).toBe(0);
  });
});

test("--commit commits releases/ and nothing else", async () => {
  const { run, git, write } = project({ ...smallCatalog, ".gitignore": ".relcat-*\n", "other.txt": "mine" });
  await git("init", "--quiet", "--initial-branch=main");
  await git("config", "user.name", "Test");
  await git("config", "user.email", "test@example.com");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "Start");
  write("other.txt", "still mine");
  await git("add", "other.txt");
  const { stdout, stderr, exitCode } = await run("cut", "26.08.001", "--commit");
  expect(exitCode).toBe(0);
  expect(stdout).toContain(`\nCommitted as ${await git("log", "-1", "--format=%h: %s")}`);
  expect(stderr).toContain("Next: git push, then relcat build --released");
  expect(await git("log", "-1", "--format=%s", "--name-only")).toBe("Cut 26.08.001\n\nreleases/ledger.jsonl");
  expect(await git("diff", "--cached", "--name-only")).toBe("other.txt");
});

test("--commit includes the ledger, the release and its moved notes, and names other changes", async () => {
  const { succeed, write, git, read } = project({
    ...smallCatalog,
    "releases/next/notes/.gitkeep": "",
    ".gitignore": ".relcat-*\n",
  });
  await succeed("cut", "26.08.001", "26.09.001", "--now", firstCut);
  await git("init", "--quiet");
  await git("config", "user.name", "Test");
  await git("config", "user.email", "test@example.com");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "Start");
  await succeed("new", "26.10");
  write("releases/26.10.001/manifests/all.json", {
    release: "26.10.001",
    artifacts: [artifact("tool-26.10.001.rpm", "rpm", "6")],
  });
  for (const [path, content] of Object.entries(release("26.11.001", [artifact("a.rpm", "rpm", "7")])))
    write(path, content);
  write("releases/next/notes/later.yaml", note("Not in 26.10."));
  write("releases/catalog.yaml", { product: "Other", require: {} });
  write("README.md", "mine");
  const { stderr } = await succeed("cut", "26.10.001", "--commit");
  expect(stderr).toContain(
    "Not committed, of releases/: 26.11.001/manifests/all.json, 26.11.001/release.yaml, catalog.yaml and next/notes/later.yaml.",
  );
  const committed = await git("log", "-1", "--format=%s", "--name-status", "--no-renames");
  expect(committed.split("\n")).toEqual([
    "Cut 26.10.001",
    "",
    "A\treleases/26.10.001/manifests/all.json",
    "A\treleases/26.10.001/notes/waiting.yaml",
    "A\treleases/26.10.001/release.yaml",
    "M\treleases/ledger.jsonl",
    "D\treleases/next/notes/waiting.yaml",
  ]);
  expect(read("releases/ledger.jsonl")).not.toContain("26.11.001");
});

test.each(["600", "664"])("keeps the permissions %s of the ledger", async (octal) => {
  const { folder, succeed, write } = await cutCatalog();
  const ledger = join(folder, "releases/ledger.jsonl");
  chmodSync(ledger, octal);
  for (const [path, content] of Object.entries(release("26.10.001", [artifact("tool.msi", "msi", "6")])))
    write(path, content);
  await succeed("cut", "--all");
  expect((statSync(ledger).mode & 0o777).toString(8)).toBe(octal);
});

test("--all --commit with nothing to cut commits nothing", async () => {
  const { succeed, git } = project({ "releases/catalog.yaml": { require: {} } });
  await git("init", "--quiet");
  expect((await succeed("cut", "--all", "--commit")).stdout).not.toContain("Committed");
  expect(await git("status", "--porcelain")).toContain("?? ");
});

test("--commit without a repository is refused before anything is written", async () => {
  const { folder, list } = project(smallCatalog);
  const { stderr, exitCode } = await relcat(folder, ["cut", "--all", "--commit"], {
    env: { GIT_CEILING_DIRECTORIES: "/" },
  });
  expect(exitCode).toBe(2);
  expect(stderr).toBe(
    "error[git-missing] this folder is not in a git repository, so --commit has nowhere to go\n" +
      "  hint: Nothing was written. Run git init first, or leave --commit out.",
  );
  expect(list("releases")).not.toContain("ledger.jsonl");
});

test("--commit by an unknown person is refused before anything is written", async () => {
  const { folder, git, list } = project(smallCatalog);
  await git("init", "--quiet");
  await git("config", "user.useConfigOnly", "true");
  const env = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", EMAIL: "" };
  const { stderr, exitCode } = await relcat(folder, ["cut", "--all", "--commit"], { env });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("error[commit-refused] git var failed: no email was given");
  expect(stderr).toContain("  hint: Nothing was written. Tell git who commits: ");
  expect(list("releases")).not.toContain("ledger.jsonl");
});

test("--commit in an unfinished merge is refused before anything is written", async () => {
  const { git, run, list, write } = project({ ...smallCatalog, ".gitignore": ".relcat-*\n" });
  await git("init", "--quiet", "--initial-branch=main");
  await git("config", "user.name", "Test");
  await git("config", "user.email", "test@example.com");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "Start");
  await git("switch", "--quiet", "--create", "work");
  write("README.md", "Other.\n");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "Work");
  await git("switch", "--quiet", "main");
  await git("merge", "--quiet", "--no-ff", "--no-commit", "work");
  expect(await run("cut", "--all", "--commit")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(
      "error[commit-refused] a merge or a cherry-pick is in progress, which git commits only as a whole\n" +
        "  hint: Nothing was written. Finish it or give it up first: git status says how.",
    ),
  });
  expect(list("releases")).not.toContain("ledger.jsonl");
  await git("commit", "--quiet", "--no-edit");
  expect((await run("cut", "--all", "--commit")).stdout).toContain("Committed as ");
});

test.each<[string, string, (git: Project["git"], folder: string) => unknown]>([
  [
    "a hook",
    "git commit was stopped by a hook: No commits on Friday.",
    (_, folder) => {
      const hook = join(folder, ".git/hooks/pre-commit");
      mkdirSync(dirname(hook), { recursive: true });
      writeFileSync(hook, "#!/bin/sh\necho 'No commits on Friday.'\necho more\nexit 1\n", { mode: 0o755 });
    },
  ],
  [
    "gpg",
    "git commit failed: gpg failed to sign the data; failed to write commit object",
    (git) => git("config", "gpg.program", "false").then(() => git("config", "commit.gpgsign", "true")),
  ],
])("--commit that %s stops has a code of its own, and git's own line", async (_, message, prepare) => {
  const { folder, git, run, list, write } = project(smallCatalog);
  await git("init", "--quiet");
  await git("config", "user.name", "Test");
  await git("config", "user.email", "test@example.com");
  await prepare(git, folder);
  expect(await run("cut", "--all", "--commit")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(
      `error[commit-refused] ${message}\n  hint: The ledger was written; commit it by hand once git works.`,
    ),
  });
  expect(list("releases")).toContain("ledger.jsonl");
  write("releases/next/notes/other.yaml", note("Another one."));
  expect(await run("cut", "--all", "--commit")).toMatchObject({
    stderr: expect.stringContaining(`error[commit-refused] ${message}\n  hint: Nothing was cut.`),
  });
});

describe("--body", () => {
  test("writes the plan as Markdown, escapes names, and counts private records", async () => {
    const name = "a|b`<img src=x>*_[l](u) @me #1.msi";
    const { succeed, read } = project({
      ...smallCatalog,
      ...release("26.10.001", [
        artifact(name, "msi", "7"),
        artifact("hidden.rpm", "rpm", "8", { exclude_from_api: true }),
      ]),
    });
    await succeed("cut", "26.10.001", "--now", firstCut, "--body", "out/plan.md");
    const [head = "", table = "", ...rest] = read("out/plan.md").split(/^(?=### )/m);
    expect(head).toBe(
      [
        "<!-- relcat plan -->",
        "",
        "## Plan",
        "",
        "Compared with <code>releases/ledger.jsonl</code>: 0 records.",
        "",
        "**Records: 1 added.**",
        "",
        "",
      ].join("\n"),
    );
    expect(table).toBe(
      [
        `### Added, with new ids dated ${stamp}`,
        "",
        "| id | version | type | file | sha256 |",
        "| ---: | --- | --- | --- | --- |",
        "| 1 | <code>26.10.001</code> | <code>msi</code> | <code>a&#124;b&#96;&#60;img src=x&#62;&#42;&#95;&#91;l&#93;(u) &#64;me &#35;1.msi</code> | <code>7777777777777777…</code> |",
        "",
        "",
      ].join("\n"),
    );
    expect(rest.join("")).toMatch(
      /\nPrivate records, not shown: 1 to get an id\. The ledger gets 2 lines, dated [^;]+; the next free id is then 3\.\n$/,
    );
    expect(read("out/plan.md")).not.toContain("hidden");
  });

  test("refuses a folder before anything is written", async () => {
    const made = project(smallCatalog);
    expect(await made.run("cut", "--all", "--body", ".")).toMatchObject({
      stderr: "error[file-access] cannot write .: it is a folder\n  hint: Name a file.",
      exitCode: 2,
    });
    expect((await made.run("cut", "--all", "--body", "releases/catalog.yaml/body.md")).stderr).toBe(
      "error[file-access] cannot write releases/catalog.yaml/body.md: a part of the path is a file, not a folder\n  hint: Check the path.",
    );
    expect(made.list("releases")).not.toContain("ledger.jsonl");
  });

  test("says that nothing would change if there is nothing to cut", async () => {
    const { succeed, read } = await cutCatalog();
    await succeed("cut", "--all", "--body", "plan.md");
    expect(read("plan.md")).toContain("\n**Nothing would change.**\n");
    expect(read("plan.md")).toMatch(/\nThe ledger gets no lines\.\n$/);
  });
});

describe("uncut", () => {
  test("takes the last cut back and says which ids are free", async () => {
    const { run, succeed, read } = project(smallCatalog);
    await succeed("cut", "26.08.001");
    const before = read("releases/ledger.jsonl");
    await succeed("cut", "26.09.001");
    const { stdout, stderr, exitCode } = await run("uncut", "26.09.001", "--ledger-base", "none");
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "Removed 3 ledger lines of 26.09.001; the ids 3 to 5 are free again.",
      stderr: "Next: relcat check, then relcat cut 26.09.001",
      exitCode: 0,
    });
    expect(read("releases/ledger.jsonl")).toBe(before);
  });

  test("asks the configured revision which lines are settled", async () => {
    const { run, json, git, write, succeed } = project({
      ...smallCatalog,
      "releases/catalog.yaml": { require: {}, ledger: { base: "main" } },
    });
    await succeed("cut", "26.08.001");
    await git("init", "--quiet", "--initial-branch=main");
    await git("add", ".");
    await git("commit", "--quiet", "--message", "Cut");
    await succeed("cut", "26.09.001");
    expect((await run("uncut", "26.08.001")).stderr).toBe(
      "error[version-settled] 26.08.001 is settled: main has its lines\n" +
        "  hint: Withdraw single packages instead (relcat retract 26.08.001 --type … --reason …), or publish a new version.",
    );
    const { document } = await json("uncut", "26.09.001");
    expect(document).toEqual({
      schema_version: 1,
      dry_run: false,
      version: "26.09.001",
      lines: 3,
      ids: [3, 4, 5],
    });
    write("releases/catalog.yaml", "ledgr: { base: main }\n");
    expect((await run("uncut", "26.08.001")).stderr).toContain(
      'releases/catalog.yaml:1:1 error[unknown-key] the key "ledgr" is not known',
    );
  });

  test("refuses a version that is not the last one", async () => {
    const { run } = await cutCatalog();
    expect(await run("uncut", "26.08.001", "--ledger-base", "none")).toMatchObject({
      exitCode: 1,
      stderr:
        "error[version-not-last] 26.08.001 is not the last in the ledger: 26.09.001 came after it\n" +
        "  hint: Ids are given in order and never reused; take the later lines back first.",
    });
  });
});
