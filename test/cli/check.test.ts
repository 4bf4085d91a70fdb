import { describe, expect, test } from "vitest";
import { artifact, cutCatalog, type Files, project, release, smallCatalog } from "../support/project.ts";
import { relcat } from "../support/run.ts";

const checked = async (files: Files) => {
  const { stdout, exitCode } = await project(files).run("check");
  return { text: stdout, exitCode };
};

test("prints the counts of a correct catalog, and the next command", async () => {
  const { stdout, stderr, exitCode } = await project(smallCatalog).run("check");
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: "no problems in 2 releases, 5 artifacts (1 private), 1 note for the next release",
    stderr: "Next: relcat build",
    exitCode: 0,
  });
});

test("passes if there are only warnings", async () => {
  const { text, exitCode } = await checked(release("26.08.001", []));
  expect(exitCode).toBe(0);
  expect(text).toMatch(/^1 warning in 1 release, 0 artifacts, 0 notes for the next release$/m);
});

test.each([
  ["nginx", "[nginx, -s, reload]"],
  ["caddy", "[caddy, reload, --config, /etc/caddy/Caddyfile]"],
  ["apache", "[apachectl, graceful]"],
])("warns of a folder whose %s no one reloads after a publish", async (host, reload) => {
  const sites = {
    prod: { url: "dir:/srv/www" },
    purged: { url: "dir:/srv/purged", purge: { exec: ["true"] } },
    bucket: { url: "s3://downloads/catalog", region: "us-east-1" },
  };
  const checkedWith = (catalog: object) => checked({ ...smallCatalog, "releases/catalog.yaml": catalog });
  const catalog = { product: "A", require: {}, base_url: "https://downloads.example.com", sites };
  const { text, exitCode } = await checkedWith({ ...catalog, hosts: [host] });
  expect([exitCode, text.match(/warning\[/g)?.length]).toEqual([0, 1]);
  expect(text).toMatch(/^releases\/catalog\.yaml:\d+:\d+ warning\[purge-missing\] /);
  expect(text).toContain(
    `the site prod has no purge:, so ${host} keeps its old configuration after a publish until someone reloads it\n`,
  );
  expect(text).toContain(`\n  hint: If relcat runs on its machine: purge: { exec: ${reload} }\n`);
  for (const hosts of [[], ["cloudfront"]])
    expect((await checkedWith({ ...catalog, hosts })).text).not.toContain("purge-missing");
});

test("prints every problem at once, by file and line, with the source line, a caret and a hint", async () => {
  const { text, exitCode } = await checked({
    ...smallCatalog,
    "releases/26.09.001/release.yaml": "version: 26.09.001\ndate: 2026-09-15\nsumary: Much.\n",
    "releases/26.09.001/manifests/all.json": `{
  "release": "26.09.001",
  "artifacts": [
    { "name": "tool.msi", "package_type": "msi", "sha256": "ABC" },
    { "name": "a/b.rpm", "package_type": "rpm", "sha256": "${"4".repeat(64)}" }
  ]
}
`,
  });
  expect(exitCode).toBe(1);
  expect(
    text,
  ).toBe(`releases/26.09.001/manifests/all.json:4:60 error[checksum-format] artifacts[0].sha256 is "ABC", expected 64 lowercase hexadecimal characters
    4 |     { "name": "tool.msi", "package_type": "msi", "sha256": "ABC" },
      |                                                            ^
releases/26.09.001/manifests/all.json:5:15 error[name-format] artifacts[1].name is "a/b.rpm", expected 1 to 255 characters without slash, backslash or control characters, not . or ..
    5 |     { "name": "a/b.rpm", "package_type": "rpm", "sha256": "4444444444444444444444444444444444444444444444444444…
      |               ^
releases/26.09.001/release.yaml:3:1 error[unknown-key] the key "sumary" is not known
    3 | sumary: Much.
      | ^
  hint: Did you mean summary?
3 errors in 2 releases, 2 artifacts, 1 note for the next release`);
});

describe("the line with the caret", () => {
  const shown = async (line: string) => {
    const { text } = await checked({ "releases/catalog.yaml": `product: A\n${line}\n` });
    const lines = text.split("\n");
    const at = lines.findIndex((each) => each.startsWith("    2 |"));
    return lines.slice(at, at + 2);
  };

  test("counts wide characters as two cells, and combined ones as one", async () => {
    expect(await shown("notes: { components: { a: 日本語 👩‍👩‍👧 e\u0301 }, x: 1 }")).toEqual([
      "    2 | notes: { components: { a: 日本語 👩‍👩‍👧 e\u0301 }, x: 1 }",
      "      |                                          ^",
    ]);
  });

  test("shows a tab as two cells", async () => {
    expect(await shown('wire: {\t"x": 1 }')).toEqual(['    2 | wire: {  "x": 1 }', "      |          ^"]);
  });

  test("replaces control characters and direction marks", async () => {
    const { text } = await checked({
      "releases/catalog.yaml": 'wire: { "\u001b]0;owned\u0007\u202e": 1 }\n',
    });
    expect(text).toContain("�]0;owned��");
    for (const mark of ["\u001b", "\u0007", "\u202e"]) expect(text).not.toContain(mark);
  });

  test("shortens a long line around the problem", async () => {
    const long = `{ "release": "26.09.001", "artifacts": [${"                ".repeat(40)}{ "nam": 1 }${" ".repeat(500)}] }`;
    const { text } = await checked({
      "releases/26.09.001/release.yaml": "version: 26.09.001\ndate: 2026-09-15\n",
      "releases/26.09.001/manifests/a.json": long,
    });
    const [line = "", caret = ""] = text
      .split("\n")
      .filter((each) => /^ {4}[1 ] \|/.test(each))
      .slice(0, 2);
    expect(line.length).toBeLessThanOrEqual(120);
    expect(line).toMatch(/^ {4}1 \| ….*…$/);
    expect(line.slice(caret.indexOf("^"))).toMatch(/^(\{ )?"nam": 1 \}/);
  });
});

test("--json prints every key of every problem, and the counts", async () => {
  const { exitCode, document } = await project({
    ...smallCatalog,
    "releases/next/notes/waiting.yaml": "component: server\nkind: fix\ntxt: A\ntext: A\n",
  }).json("check");
  expect(exitCode).toBe(1);
  expect(document).toEqual({
    schema_version: 1,
    errors: 1,
    warnings: 0,
    releases: 2,
    artifacts: 5,
    private: 1,
    next_notes: 1,
    ledger_base: null,
    problems: [
      {
        code: "unknown-key",
        severity: "error",
        message: 'the key "txt" is not known',
        hint: "Did you mean text?",
        file: "releases/next/notes/waiting.yaml",
        line: 3,
        column: 1,
      },
    ],
  });
});

test("control characters of a file name are replaced in text and kept in JSON", async () => {
  const name = "releases/\u009b31m\u202e.txt";
  const { run } = project({ [name]: "" });
  const { stdout: text } = await run("check");
  expect(text).toMatch(/^releases\/\uFFFD31m\uFFFD\.txt:1:1 error\[file-unexpected\] /);
  const { stdout } = await run("check", "--format", "json");
  expect(stdout).toContain("releases/\\u009b31m\\u202e.txt");
  expect(JSON.parse(stdout).problems[0].file).toBe(name);
});

describe("--ledger-base", () => {
  test("proves that the ledger only grew since a commit", async () => {
    const { run, git, write, read, succeed } = await cutCatalog();
    await git("init", "--quiet", "--initial-branch=main");
    await git("add", ".");
    await git("commit", "--quiet", "--message", "Cut");
    for (const [path, content] of Object.entries(
      release("26.10.001", [artifact("tool-26.10.001.msi", "msi", "6")]),
    ))
      write(path, content);
    await succeed("cut", "--all");
    const grown = await run("check", "--ledger-base", "main");
    expect(grown.exitCode).toBe(0);
    expect(grown.stdout).toMatch(/\nthe ledger only grew since main$/);

    const lines = read("releases/ledger.jsonl").split("\n");
    write(
      "releases/ledger.jsonl",
      [...lines.slice(1, 2), ...lines.slice(0, 1), ...lines.slice(2)].join("\n"),
    );
    const { stdout, exitCode } = await run("check", "--ledger-base", "main");
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      "releases/ledger.jsonl:1:1 error[ledger-rewritten] the line differs from main, expected a ledger that only grows\n",
    );
  });

  test("reports an unknown revision as a usage error with a hint", async () => {
    const { run, git } = await cutCatalog();
    await git("init", "--quiet", "--initial-branch=main");
    const { stderr, exitCode } = await run("check", "--ledger-base", "origin/main");
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      "error[git-revision] git does not know the revision origin/main\n  hint: The repository has no remote yet. Another one is named with --ledger-base (none: nothing is settled yet), for good with ledger: { base: … } in catalog.yaml.",
    );
  });

  test("reports that the folder is outside a repository, except with none", async () => {
    const { folder } = await cutCatalog();
    const env = { GIT_CEILING_DIRECTORIES: "/" };
    const { stderr, exitCode } = await relcat(folder, ["check", "--ledger-base", "main"], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("this folder is not in a git repository, so main cannot be looked up");
    expect(await relcat(folder, ["check", "--ledger-base", "none"], { env })).toMatchObject({ exitCode: 0 });
  });

  test("fails without git, and no other option does", async () => {
    const { folder } = await cutCatalog();
    const env = { PATH: "/nonexistent" };
    const { stderr, exitCode } = await relcat(folder, ["check", "--ledger-base", "main"], { env });
    expect({ stderr, exitCode }).toEqual({
      stderr: "error[git-missing] git is not installed\n  hint: Install git, or run the command without it.",
      exitCode: 2,
    });
    expect(await relcat(folder, ["check"], { env })).toMatchObject({ exitCode: 0 });
  });
});
