/** @module-tag long */
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { jsonSchemaText } from "../../pipeline/documents/schemas.ts";
import { artifact, cutCatalog, project, release, smallCatalog } from "../support/project.ts";
import { relcat } from "../support/run.ts";
import { commitAll, edited, october, settledCatalog, settledProject, writeAll } from "./planning.ts";

const now = ["--now", "2026-10-02T10:00:00Z"];

test("plan prints the changes and the next command", async () => {
  const made = await settledProject();
  writeAll(made, { ...october, ...edited({ description: "Better" }) });
  await made.succeed(
    "retract",
    "5",
    "--reason",
    "Broken.",
    "--replaced-by",
    "3",
    "--yes",
    "--now",
    "2026-09-25T10:00:00Z",
  );
  const { stdout, stderr, exitCode } = await made.run("plan", ...now, "--out", "out/plan.json");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "Next: relcat cut --plan out/plan.json" });
  const text = stdout
    .replace(/\([0-9a-f]{12}\)/, "(commit)")
    .replace(/^Documents: [\s\S]*?(?=^Private)/m, "");
  expect(text).toBe(`Compared with main (commit): 4 records.
Records: 1 retracted, 2 added and 1 revised.
Retracted:
  5  26.09.001  rpm  tool-26.09.001.rpm
     Broken. (replaced by 3)
Added, with new ids dated 2026-10-02T10:00:00.000000Z:
  6  26.10.001  msi  tool-26.10.001.msi  6666666666666666…
  8  26.10.001  rpm  tool-26.10.001.rpm  7777777777777777…
Revised, dated 2026-10-02T10:00:00.000000Z:
  1  26.08.001  msi  tool-26.08.001.msi
     description: "Windows installer" → "Better"
Releases:
  26.10.001  2026-10-15  added
Private records, not shown: 1 to get an id.
The ledger gets 4 lines, dated 2026-10-02T10:00:00.000000Z; the next free id is then 9.`);
});

test("documents are listed in numeric order", async () => {
  const made = await settledProject();
  const digits = ["6", "7", "8", "9", "a", "b"];
  writeAll(
    made,
    release(
      "26.10.001",
      digits.map((digit) => artifact(`tool-${digit}.rpm`, "rpm", digit)),
    ),
  );
  const { stdout } = await made.run("plan", ...now, "--format", "markdown");
  const added = [...stdout.matchAll(/added.*api\/v1\/package\/(\d+)\/index\.json/g)].map(([, id]) =>
    Number(id),
  );
  expect(added).toEqual([6, 7, 8, 9, 10, 11]);
});

test("--json prints a document that fits its schema and is equal to the file's", async () => {
  const made = await settledProject();
  writeAll(made, { ...october, ...edited({ description: "Better", size: 3, attestation: {} }) });
  const { document } = await made.json("plan", ...now, "--out", "plan.json");
  const { stdout } = await made.run("plan", ...now, "--format", "json");
  expect(JSON.parse(made.read("plan.json"))).toEqual(document);
  expect(JSON.parse(stdout)).toEqual(document);
  const ajv = new Ajv2020({ strict: true, validateFormats: false });
  const isValid = ajv.validate(JSON.parse(jsonSchemaText("plan")), document);
  expect(isValid, ajv.errorsText()).toBe(true);
  expect(document).toMatchObject({ schema_version: 1, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test("--detailed-exitcode distinguishes changes from none", async () => {
  const made = await settledProject();
  expect((await made.run("plan", "--detailed-exitcode")).exitCode).toBe(0);
  writeAll(made, october);
  expect((await made.run("plan", "--detailed-exitcode")).exitCode).toBe(10);
  expect((await made.run("plan")).exitCode).toBe(0);
});

test("plan says that nothing would change", async () => {
  const made = await settledProject();
  const { stdout, stderr } = await made.run("plan");
  expect(stdout).toMatch(
    /^Compared with main \([0-9a-f]{12}\): 4 records\.\nNothing would change\.\nThe ledger gets no lines\.$/,
  );
  expect(stderr).toBe("Next: relcat build --released");
});

test("the documents of a first site are counted", async () => {
  const made = project(smallCatalog);
  const { stdout } = await made.run("plan", ...now);
  const { document } = await made.json("plan", ...now);
  const { length } = (document as { documents: { added: string[] } }).documents.added;
  expect(length).toBeGreaterThan(20);
  expect(stdout).not.toContain("index.html");
  expect(stdout).toContain(`\nThe site gets ${length} documents.\n`);
  const markdown = await made.run("plan", ...now, "--format", "markdown");
  expect(markdown.stdout).toContain(`\n\nThe site gets ${length} documents. `);
});

test("missing artifacts are listed before the cut", async () => {
  const made = await settledProject();
  writeAll(made, {
    ...october,
    "releases/catalog.yaml": {
      product: "Example",
      require: {},
      ledger: { base: "main" },
      expected: [
        { package_type: "pkg", from: "26.10" },
        { package_type: "xz", from: "26.10" },
      ],
    },
  });
  const { stdout, stderr } = await made.run("plan");
  expect(stdout).toContain("\nExpected and still missing:\n  26.10.001  pkg, xz\n");
  expect(stderr).toBe("Next: add the missing artifacts, then relcat plan");
});

test("records that only catalog.yaml changes are one line", async () => {
  const made = await settledProject();
  const config = { product: "Example", require: {}, ledger: { base: "main" } };
  made.write("releases/catalog.yaml", { ...config, package_types: { rpm: { description: "Package" } } });
  const { stdout } = await made.run("plan", ...now);
  expect(stdout).toContain(`Records: 2 revised.
Configuration:
  releases/catalog.yaml:1:84  package_types.rpm.description: "Linux package (RPM)" → "Package"  2 records
`);
});

test("the next command has --allow-revise for more than 50 revisions", async () => {
  const packages = Array.from({ length: 60 }, (_, index) => artifact(`p${index}.rpm`, "rpm", "a"));
  const made = await settledProject({ ...settledCatalog, ...release("26.10.001", packages) });
  const config = { product: "Example", require: {}, ledger: { base: "main" } };
  made.write("releases/catalog.yaml", { ...config, package_types: { rpm: { description: "Package" } } });
  const { stderr } = await made.run("plan", "--out", "plan.json");
  expect(stderr).toBe("Next: relcat cut --plan plan.json --allow-revise 63");
});

describe("the settled revision", () => {
  test("has a hint if git does not know it: git fetch, or its possible names", async () => {
    const made = await cutCatalog();
    await made.git("init", "--quiet", "--initial-branch=main");
    const another =
      "Another one is named with --ledger-base (none: nothing is settled yet), for good with ledger: { base: … } in catalog.yaml.";
    const foreign = "It is not a branch, tag or commit of this clone, or a branch of one of its remotes.";
    const hintFor = async (...args: string[]) => {
      const { stderr, exitCode } = await made.run("plan", ...args);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: expect.stringMatching(
          /^error\[git-revision\] git does not know the revision \S+\n {2}hint: /,
        ),
      });
      return stderr.split("hint: ")[1];
    };
    const named = ["--ledger-base", "origin/main"];
    const alone = "The repository has no remote yet.";
    expect(await hintFor(...named)).toBe(`${alone} ${another}`);
    await commitAll(made);
    expect(await hintFor(...named)).toBe(`${alone} Did you mean main? ${another}`);
    expect(await hintFor("--ledger-base", "mian")).toBe(`${foreign} Did you mean main? ${another}`);
    await made.git("remote", "add", "origin", "https://example.invalid/catalog.git");
    const fetched = "origin main:refs/remotes/origin/main. Did you mean main?";
    expect(await hintFor()).toBe(`Fetch it: git fetch ${fetched} ${another}`);
    const clone = project();
    await clone.git("clone", "--quiet", "--depth=1", `file://${made.folder}`, "clone");
    await clone.git("-C", "clone", "update-ref", "-d", "refs/remotes/origin/main");
    await clone.git("-C", "clone", "symbolic-ref", "--delete", "refs/remotes/origin/HEAD");
    expect((await clone.run("-C", "clone", "plan")).stderr.split("hint: ")[1]).toBe(
      `Fetch it: git fetch --depth=1 ${fetched} ${another}`,
    );
    expect((await made.run("plan", "--ledger-base", "none")).stdout).toContain(
      "Compared with an empty catalog.\nRecords: 4 added.\n",
    );
  });

  test("is optional in a repository without a commit or a remote", async () => {
    const made = project(smallCatalog);
    await made.git("init", "--quiet", "--initial-branch=main");
    const planned = async () => (await made.succeed("plan")).stdout.split("\n").slice(0, 2);
    const empty = "Compared with an empty catalog.";
    expect(await planned()).toEqual([`The repository has no commit yet. ${empty}`, "Records: 4 added."]);
    await commitAll(made);
    expect(await planned()).toEqual([`The repository has no remote yet. ${empty}`, "Records: 4 added."]);
    await made.succeed("cut", "--all");
    await commitAll(made);
    expect(await planned()).toEqual([`The repository has no remote yet. ${empty}`, "Records: 4 added."]);
    await made.succeed("build", "--released");
  });

  test("is optional without a repository, and without git", async () => {
    const { folder } = await cutCatalog();
    const repository = await relcat(folder, ["plan"], { env: { GIT_CEILING_DIRECTORIES: "/" } });
    expect(repository.exitCode).toBe(0);
    expect(repository.stdout).toMatch(
      /^This folder is not in a git repository\. Compared with an empty catalog\.\nRecords: 4 added\./,
    );
    const git = await relcat(folder, ["plan"], { env: { PATH: "/nonexistent" } });
    expect(git).toEqual(repository);
  });

  test("is read as a tree without the work tree or the index, also in a folder of the repository", async () => {
    const made = await settledProject();
    await made.git("mv", "releases/26.08.001/release.yaml", "elsewhere.yaml");
    await made.git("mv", "elsewhere.yaml", "releases/26.08.001/release.yaml");
    writeAll(made, edited({ description: "Better" }));
    await made.git("add", ".");
    expect((await made.run("plan")).stdout).toContain('description: "Windows installer" → "Better"');
    const below = await relcat(join(made.folder, "releases"), ["-C", "..", "plan"]);
    expect(below.stdout).toContain('description: "Windows installer" → "Better"');
  });

  test("works in a shallow clone, for a project in a folder of its repository", {
    tags: ["long"],
  }, async () => {
    const upstream = project();
    for (const [path, content] of Object.entries({ ...smallCatalog, ...october }))
      upstream.write(`deep/in/${path}`, content);
    await upstream.succeed("-C", "deep/in", "cut", "26.08.001", "26.09.001", ...now);
    await upstream.git("init", "--quiet", "--initial-branch=main");
    await upstream.git(
      "add",
      "deep/in/releases/26.08.001",
      "deep/in/releases/26.09.001",
      "deep/in/releases/ledger.jsonl",
    );
    for (const message of ["One", "Two"])
      await upstream.git("commit", "--quiet", "--allow-empty", "--message", message);
    const clone = project();
    await clone.git("clone", "--quiet", "--depth=1", `file://${upstream.folder}`, ".");
    clone.write("deep/in/releases/catalog.yaml", { product: "Example", require: {} });
    for (const [path, content] of Object.entries(october)) clone.write(`deep/in/${path}`, content);
    const { stdout, exitCode } = await clone.run("-C", "deep/in", "plan", ...now);
    expect({ exitCode, head: stdout.split("\n").slice(0, 2) }).toEqual({
      exitCode: 0,
      head: [
        expect.stringMatching(/^Compared with origin\/main \([0-9a-f]{12}\): 4 records\.$/),
        expect.any(String),
      ],
    });
  });

  test("is an error if it is invalid", async () => {
    const made = await settledProject();
    await made.git("switch", "--quiet", "main");
    const manifest = made.read("releases/26.08.001/manifests/all.json");
    made.write("releases/26.08.001/manifests/all.json", "{");
    await made.git("commit", "--quiet", "--all", "--message", "Broken");
    await made.git("switch", "--quiet", "work");
    made.write("releases/26.08.001/manifests/all.json", manifest);
    const { stdout } = await made.run("plan");
    expect(stdout).toMatch(
      /^Compared with main \([0-9a-f]{12}\): 2 records\.\n1 error keeps parts of main from being read: they show as added\.\nRecords: 2 added\./,
    );
  });
});

test("control characters and direction marks are replaced for a terminal", async () => {
  const made = await settledProject();
  writeAll(made, edited({ description: "\u001b]0;owned\u0007\u202e" }));
  for (const format of ["text", "json", "markdown"]) {
    const { stdout } = await made.run("plan", "--format", format);
    for (const mark of ["\u001b", "\u0007", "\u202e"]) expect(stdout).not.toContain(mark);
  }
});
