/** @module-tag long */
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { githubSchema } from "../docs/github-schema.ts";
import { artifact, initAlone, project } from "../support/project.ts";
import { temporaryFolder } from "../support/run.ts";

/** The text with the comments of some keys, and what is indented below them, turned into YAML. */
function uncommented(text: string, keys: readonly string[]): string {
  let isInside = false;
  const lines = text.split("\n").map((line) => {
    const key = /^# ([a-z_]+):/.exec(line)?.[1];
    isInside = key === undefined ? isInside && line.startsWith("#   ") : keys.includes(key);
    return isInside ? line.slice(2) : line;
  });
  return lines.join("\n");
}

test("makes a project that passes check and build unedited", async () => {
  const { run, succeed, list, read } = project();
  const { stdout, stderr, exitCode } = await run(...initAlone, "demo");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^Started a project in demo\/:\n {2}releases\/catalog\.yaml\n/);
  expect(stderr.split("\n")).toEqual([
    "package.json installs relcat 0.1.0 from a registry.",
    "package-lock.json, which npm ci needs, is missing: --no-lock was given. To write it, run in demo/: npm install --package-lock-only",
    "Next: relcat -C demo check, then relcat -C demo build",
  ]);
  const checked = await succeed("-C", "demo", "check");
  expect(checked.stdout).toContain("warning[release-empty] the release has no artifacts yet");
  await succeed("-C", "demo", "build");
  expect(list("demo/dist")).toContain("build.json");
  expect(JSON.parse(read("demo/package.json"))).toMatchObject({
    private: true,
    devDependencies: { relcat: "0.1.0" },
  });
});

test("--json prints the new files as a document", async () => {
  const { document } = await project().json(...initAlone);
  const files = document.files as string[];
  const month = new Date().toISOString().slice(2, 7).replace("-", ".");
  expect(document).toMatchObject({ schema_version: 1, folder: "." });
  expect(files.filter((file) => !file.startsWith("releases/2"))).toEqual([
    "releases/catalog.yaml",
    ".github/workflows/catalog.yml",
    ".github/workflows/refresh.yml",
    "releases/next/notes/.gitkeep",
    ".gitignore",
    ".gitattributes",
    "package.json",
  ]);
  expect(files).toContain(`releases/${month}.001/release.yaml`);
});

describe("the new catalog.yaml", () => {
  test("sets no requirements, and has examples of them", async () => {
    const { succeed, write, read, list } = project();
    await succeed(...initAlone);
    const [version = ""] = list("releases").filter((name) => /^\d/.test(name));
    const manifest = {
      release: version,
      artifacts: [artifact("image.qcow2", "qcow"), artifact("tool.msi", "msi")],
    };
    write(`releases/${version}/manifests/a.json`, manifest);
    expect((await succeed("check")).stdout).toMatch(/^no problems in 1 release, 2 artifacts, /);
    // The strict form, which is commented out, refuses this manifest.
    const strict = read("releases/catalog.yaml")
      .replace(/^# (require: .*)$/m, "$1")
      .replace(/^require: \{\}$/m, "");
    write("releases/catalog.yaml", strict);
    expect((await succeed("status")).stdout).toMatch(/, 4 errors: relcat check shows them$/m);
  });

  test.each([undefined, "sample", "goreleaser", "nix"])(
    "--from %s: has fewer than 40 lines, and comments whose examples pass check",
    async (from) => {
      const { succeed, write, read } = project();
      await succeed(...initAlone, ...(from ? ["--from", from] : []));
      const text = read("releases/catalog.yaml");
      expect(text.split("\n").length).toBeLessThan(40);
      const written = ["base_url", "sites", "trust", "feeds", "ingest", "ignore", "expected"];
      write("releases/catalog.yaml", uncommented(text, written));
      expect(Object.keys(parse(read("releases/catalog.yaml")))).toEqual(
        expect.arrayContaining([
          "product",
          "base_url",
          "sites",
          "trust",
          "feeds",
          "require",
          "ingest",
          "expected",
        ]),
      );
      await succeed("check");
    },
  );

  test("has an example for CI that is valid YAML, checks the ledger against the branch and builds the cut releases", async () => {
    const { succeed, read } = project();
    await succeed(...initAlone);
    const { on, jobs } = parse(read(".github/workflows/catalog.yml"));
    expect(on).toEqual({ pull_request: null, push: { branches: ["main"] } });
    // The ledger is compared with the history.
    expect(jobs.catalog.steps[0].with).toEqual({ "fetch-depth": 0 });
    const commands = jobs.catalog.steps.flatMap((step: { run?: string }) => step.run ?? []);
    expect(commands).toEqual([
      "npm ci",
      'npx --no -- relcat check --ledger-base "origin/$BASE"',
      "npx --no -- relcat check && npx --no -- relcat build --released",
    ]);
  });

  test("has a workflow that renews the signatures of the site that a variable names, every day, on main", async () => {
    const { succeed, read } = project();
    await succeed(...initAlone);
    const text = read(".github/workflows/refresh.yml");
    expect((await githubSchema()).ofWorkflow("refresh.yml", text)).toEqual([]);
    const { on, jobs } = parse(text);
    expect(on).toEqual({ schedule: [{ cron: "17 4 * * *" }], workflow_dispatch: null });
    const { if: condition, steps } = jobs.refresh;
    expect(condition).toBe("vars.RELCAT_SITE != '' && github.ref == 'refs/heads/main'");
    expect(steps.map(({ run }: { run?: string }) => run)).toEqual([
      undefined,
      "npm ci",
      'npx --no -- relcat publish "$RELCAT_SITE" --refresh',
    ]);
    expect(JSON.stringify(steps.slice(0, 2))).not.toContain("secrets.");
  });

  test("comes with a .gitignore for the lock and the built sites, and makes two branches' ledgers conflict", async () => {
    const { succeed, git, write } = project();
    await git("init", "--quiet", "--initial-branch=main");
    await succeed(...initAlone);
    await succeed("build");
    for (const folder of ["preview", "earlier"]) await succeed("build", "--out", folder);
    await git("add", ".");
    const tracked = (await git("ls-files")).split("\n");
    expect(tracked.filter((path) => /lock|dist|preview|earlier/.test(path))).toEqual([]);
    await git("commit", "--quiet", "--message", "Start");
    for (const branch of ["ours", "theirs"]) {
      await git("switch", "--quiet", "--create", branch, "main");
      write("releases/ledger.jsonl", `${branch}\n`);
      await git("add", ".");
      await git("commit", "--quiet", "--message", branch);
    }
    await expect(git("merge", "ours")).rejects.toThrow(/CONFLICT/);
  });
});

describe("init refuses", () => {
  test("to overwrite files: it names all of them and writes nothing", async () => {
    const { run, list, read } = project({
      "package.json": "{}",
      "demo/.gitignore": "mine\n",
      "demo/package.json": "{}",
    });
    const { stdout, stderr, exitCode } = await run(...initAlone, "demo");
    const hint = "\n  hint: Nothing was written. Move them away first, or start in another folder.\n";
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "",
      stderr: `error[file-exists] demo/.gitignore, demo/package.json exist already${hint.trimEnd()}`,
      exitCode: 2,
    });
    expect(list("demo")).toEqual([".gitignore", "package.json"]);
    expect(read("demo/.gitignore")).toBe("mine\n");
  });

  test("to run a second time", async () => {
    const { succeed, run } = project();
    await succeed(...initAlone);
    expect((await run(...initAlone)).stderr).toMatch(
      /^error\[file-exists\] this folder is a project already: it has releases\/catalog\.yaml\n.*relcat new opens the next release there\.$/,
    );
  });

  test("a file in the place of the folder", async () => {
    const { run } = project({ demo: "a file" });
    expect(await run(...initAlone, "demo")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("error[file-access] demo is a file, expected a folder for the project"),
    });
  });

  test.each(["releases", "vendor", ".github", ".github/workflows"])(
    "to write through %s if it is a link that leads out of the folder, or to nothing",
    async (linked) => {
      const { folder, run, list } = project({ "relcat-9.9.9.tgz": "a tarball" });
      const outside = temporaryFolder();
      for (const target of [outside, join(outside, "nothing")]) {
        const demo = join(folder, `demo-${basename(target)}`);
        mkdirSync(dirname(join(demo, linked)), { recursive: true });
        symlinkSync(target, join(demo, linked));
        const args = ["--relcat", "relcat-9.9.9.tgz", "--no-lock", basename(demo)];
        const { exitCode, stdout, stderr } = await run("init", ...args);
        expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
        expect(stderr).toMatch(
          new RegExp(
            `^error\\[file-access\\] cannot write .*: ${basename(demo)}/${linked.replace(".", "\\.")} is, or goes through, a symbolic link that leads out of the project or to nothing\n  hint: Replace the link with a folder\\. Nothing was written\\.$`,
          ),
        );
        expect(list(basename(demo))).toEqual([linked.split("/")[0]]);
        expect(readdirSync(outside)).toEqual([]);
      }
    },
  );

  test("nothing that is linked inside the folder", async () => {
    const { folder, succeed, list } = project();
    mkdirSync(join(folder, "data"));
    symlinkSync("data", join(folder, "releases"));
    await succeed(...initAlone);
    expect(list("data")).toContain("catalog.yaml");
  });
});
