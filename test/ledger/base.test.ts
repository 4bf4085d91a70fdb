import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { artifact, cutCatalog, type Project, project, release } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";

const ledger = "releases/ledger.jsonl";
const file = ({ folder }: Project) => join(folder, ledger);

/** A project whose ledger of five lines is pushed to origin/main, with a built site in dist/. */
let pushed: Project;

beforeAll(async () => {
  pushed = await cutCatalog();
  pushed.write(".gitignore", "dist/\n.relcat-*\n");
  await pushed.succeed("build", "--released");
  const origin = temporaryFolder();
  await pushed.git("init", "--quiet", "--bare", "--initial-branch=main", origin);
  await pushed.git("init", "--quiet", "--initial-branch=main");
  await pushed.git("config", "user.name", "Test");
  await pushed.git("config", "user.email", "test@example.com");
  await pushed.git("remote", "add", "origin", origin);
  await commit(pushed, "Cut");
  await pushed.git("push", "--quiet", "origin", "main");
});

async function commit({ git }: Project, message: string): Promise<void> {
  await git("add", ".");
  await git("commit", "--quiet", "--allow-empty", "--message", message);
}

/** Another clone of the same origin, whose working files are those of `pushed`. */
function clone(): Project {
  const made = project();
  cpSync(pushed.folder, made.folder, { recursive: true });
  return made;
}

/** Keeps some of the ledger's lines. */
function keepLines(made: Project, count: number): void {
  made.write(ledger, `${made.read(ledger).split("\n").slice(0, count).join("\n")}\n`);
}

const commands: [name: string, ...args: string[]][] = [
  ["check", "check"],
  ["cut", "cut", "--all"],
  ["build --released", "build", "--released"],
  ["status", "status", "--offline"],
  ["sign", "sign"],
  ["retract", "retract", "1", "--reason", "Broken.", "--yes"],
  ["reinstate", "reinstate", "1", "--yes"],
  ["uncut", "uncut", "26.09.001"],
];

describe("a ledger that lost lines is an error", () => {
  test.each(commands)("in %s if it was deleted", async (_, ...args) => {
    const made = clone();
    rmSync(file(made));
    const { exitCode, stdout, stderr } = await made.run(...args);
    expect(stdout + stderr).toContain(
      `${ledger}:1:1 error[ledger-rewritten] the ledger is missing or empty, and that of HEAD has 5 lines\n` +
        `  hint: Put it back: git checkout HEAD -- ${ledger}`,
    );
    expect(exitCode).toBe(1);
    // Nothing was written, and the hint works as it is.
    expect(await made.git("status", "--porcelain")).toBe(` D ${ledger}`);
    await made.git("checkout", "HEAD", "--", ledger);
    expect((await made.run("check")).exitCode).toBe(0);
  });

  test("if it was shortened", async () => {
    const made = clone();
    keepLines(made, 3);
    const { stderr, exitCode } = await made.run("build", "--released");
    expect(stderr).toContain("error[ledger-rewritten] the ledger lacks the last 2 lines of that of HEAD\n");
    expect(exitCode).toBe(1);
  });

  test("if it was rewritten in a valid form", async () => {
    const made = clone();
    made.write(ledger, made.read(ledger).replaceAll('"at":"2026-09-20T10', '"at":"2026-09-20T09'));
    const { stderr, exitCode } = await made.run("cut", "--all");
    expect(stderr).toContain(
      `${ledger}:1:1 error[ledger-rewritten] the ledger differs from that of HEAD here, expected a ledger that only grows\n`,
    );
    expect(exitCode).toBe(1);
  });

  test("if a commit on main removed lines, compared with the first parent", async () => {
    const made = clone();
    keepLines(made, 4);
    await commit(made, "Lost");
    await made.git("update-ref", "refs/remotes/origin/main", "HEAD");
    const { stdout, exitCode } = await made.run("check");
    expect(stdout).toContain("error[ledger-rewritten] the ledger lacks the last line of that of HEAD^\n");
    expect(exitCode).toBe(1);
  });

  test("if a merge kept the branch's lines and dropped those of main", async () => {
    const made = clone();
    await made.git("switch", "--quiet", "--create", "work");
    await made.succeed("retract", "1", "--reason", "Broken.", "--yes");
    await commit(made, "Ours");
    await made.git("switch", "--quiet", "main");
    await made.succeed("retract", "2", "--reason", "Broken.", "--yes");
    await commit(made, "Theirs");
    await made.git("merge", "--quiet", "--no-ff", "-X", "theirs", "-m", "Merge", "work");
    await made.git("update-ref", "refs/remotes/origin/main", "HEAD");
    const { stdout, exitCode } = await made.run("check");
    expect(stdout).toContain(
      `${ledger}:6:1 error[ledger-rewritten] the ledger differs from that of HEAD^ here`,
    );
    expect(exitCode).toBe(1);
  });

  test("if a commit on a branch removed lines, compared with the merge base", async () => {
    const made = clone();
    await made.git("switch", "--quiet", "--create", "work");
    const base = (await made.git("rev-parse", "HEAD")).slice(0, 12);
    rmSync(file(made));
    await commit(made, "Lost");
    await commit(made, "More");
    const { stderr, exitCode } = await made.run("status", "--offline");
    expect(stderr).toContain(
      `the ledger is missing or empty, and that of ${base} in origin/main has 5 lines\n  hint: Put it back: git checkout ${base} -- ${ledger}`,
    );
    expect(exitCode).toBe(1);
  });

  test("in a folder of the repository, and with another base", async () => {
    const made = project();
    cpSync(pushed.folder, join(made.folder, "deep"), {
      recursive: true,
      filter: (path) => !path.endsWith(".git"),
    });
    made.write("deep/releases/catalog.yaml", {
      product: "Example",
      require: {},
      ledger: { base: "settled" },
    });
    await made.git("init", "--quiet", "--initial-branch=main");
    await commit(made, "Cut");
    await made.git("branch", "settled");
    await commit(made, "More");
    rmSync(join(made.folder, "deep", ledger));
    const { stdout, exitCode } = await made.run("-C", "deep", "check");
    expect(stdout).toMatch(/error\[ledger-rewritten\] .* that of [0-9a-f]{12} in settled has 5 lines\n/);
    expect(exitCode).toBe(1);
  });
});

describe("a ledger that grew is accepted", () => {
  test("on main, on a branch, behind the base, and after a local cut was taken back", async () => {
    const made = clone();
    for (const [path, content] of Object.entries(release("26.10.001", [artifact("tool.msi", "msi", "6")])))
      made.write(path, content);
    const cut = await made.run("cut", "26.10.001", "--commit");
    expect([cut.exitCode, cut.stderr]).toEqual([0, expect.not.stringContaining("not compared")]);
    await made.git("switch", "--quiet", "--create", "work");
    expect((await made.run("check")).stderr).not.toContain("compared");
    await made.succeed("uncut", "26.10.001");
    await made.succeed("check");
    // A later commit was merged while it waited for an approval.
    await made.git("update-ref", "refs/remotes/origin/main", "HEAD");
    await made.git("checkout", "--quiet", "--force", "HEAD~1");
    await made.succeed("build", "--released");
  });

  test("with --no-base, and in a build of an earlier commit", async () => {
    const made = clone();
    keepLines(made, 2);
    const { stdout, stderr, exitCode } = await made.run("check", "--no-base");
    expect([exitCode, stdout + stderr]).toEqual([0, expect.not.stringMatching(/compared|ledger-/)]);
    for (const args of [
      ["build", "--released"],
      ["status", "--offline"],
    ])
      expect((await made.run(...args, "--no-base")).exitCode).toBe(0);
    expect((await made.run("check", "--ledger-base", "none")).exitCode).toBe(0);
  });

  test("with a warning in serve, which makes nothing permanent", async () => {
    const made = clone();
    keepLines(made, 2);
    const { stderr } = await made.run("serve", "--build", "--dir", "preview", "--host", "203.0.113.1");
    expect(stderr).toContain("warning[ledger-rewritten] the ledger lacks the last 3 lines of that of HEAD\n");
  });
});

describe("if git cannot compare", () => {
  const line = (reason: string) => `The ledger was not compared with origin/main: ${reason}\n`;
  const first = (stderr: string) => `${stderr}\n`.replace(/^(?!The ledger was).*\n/gm, "");

  test("one line reports it, and nothing fails", { tags: ["long"] }, async () => {
    const folder = temporaryFolder();
    cpSync(join(pushed.folder, "releases"), join(folder, "releases"), { recursive: true });
    const alone = await relcat(folder, ["check"], { env: { GIT_CEILING_DIRECTORIES: "/" } });
    expect([alone.exitCode, first(alone.stderr)]).toEqual([
      0,
      line("this folder is not in a git repository."),
    ]);
    const without = await relcat(folder, ["build", "--released"], { env: { PATH: "/nonexistent" } });
    expect([without.exitCode, first(without.stderr)]).toEqual([
      0,
      line("this folder is not in a git repository."),
    ]);

    const made = clone();
    await made.git("update-ref", "-d", "refs/remotes/origin/main");
    for (const args of [["check"], ["status", "--offline"], ["cut", "--all"], ["build", "--released"]]) {
      const { exitCode, stderr } = await made.run(...args);
      expect([exitCode, first(stderr)]).toEqual([
        0,
        line("git does not know it. Fetch it, or name another: ledger: { base: … } in catalog.yaml."),
      ]);
    }
    await made.git("checkout", "--quiet", "--orphan", "fresh");
    expect(first((await made.run("check")).stderr)).toBe(line("the repository has no commit yet."));
    await commit(made, "Alone");
    await made.git("update-ref", "refs/remotes/origin/main", "main");
    expect(first((await made.run("check")).stderr)).toBe(line("it has no commit in common with HEAD."));
  });

  test.each(["branch", "tag"])("a %s with the name of the base stops every comparison", async (kind) => {
    const made = clone();
    await made.git(kind, "origin/main");
    for (const args of [["check"], ["cut", "--all"], ["build", "--released"]]) {
      const { exitCode, stderr } = await made.run(...args);
      expect([exitCode, stderr]).toEqual([
        2,
        "error[git-revision] several branches or tags have the name origin/main, so git may compare the ledger with the wrong one\n" +
          "  hint: git show-ref origin/main lists them. Rename or delete the ones that are not meant.",
      ]);
    }
    await made.git(kind, "-d", "origin/main");
    await made.succeed("check");
  });

  test("a new project without a repository, a remote or a ledger line gets no such line", async () => {
    const made = project(release("26.08.001", [artifact("tool.msi", "msi", "1")]));
    made.write("releases/catalog.yaml", { product: "Example", require: {} });
    const silent = async () => expect((await made.succeed("check")).stderr).not.toContain("compared");
    await silent();
    await made.git("init", "--quiet");
    await silent();
    await commit(made, "Start");
    await silent();
    await made.succeed("cut", "--all");
    expect(first((await made.succeed("check")).stderr)).toBe(line("the repository has no remote yet."));
  });

  test("a shallow clone names fetch-depth, in CI as a warning", async () => {
    const made = project();
    const origin = await pushed.git("remote", "get-url", "origin");
    await made.git("clone", "--quiet", "--depth=1", `file://${origin}`, ".");
    const words = line(
      "this clone is shallow. Fetch the whole history: fetch-depth: 0 in CI, or git fetch --unshallow.",
    );
    const local = await made.run("check");
    expect([local.exitCode, first(local.stderr)]).toEqual([0, words]);
    await made.git("update-ref", "-d", "refs/remotes/origin/main");
    const unfetched = await made.run("status", "--offline");
    expect([unfetched.exitCode, first(unfetched.stderr)]).toEqual([0, words]);

    const env = { CI: "true" };
    const checked = await relcat(made.folder, ["check"], { env });
    const warning =
      "warning[git-revision] the ledger was not compared with origin/main, because this clone is shallow\n" +
      "  hint: Fetch the whole history (fetch-depth: 0), or give --no-base. In the next release of relcat this is an error.\n";
    expect([checked.exitCode, checked.stdout]).toEqual([0, expect.stringContaining(warning)]);
    expect(first(checked.stderr)).toBe("");
    const built = await relcat(made.folder, ["build", "--released"], { env });
    expect([built.exitCode, `${built.stderr}\n`]).toEqual([0, expect.stringContaining(warning)]);
    const silent = await relcat(made.folder, ["check", "--no-base"], { env });
    expect(silent.stdout + silent.stderr).not.toMatch(/shallow|git-revision/);
  });
});
