/** @module-tag long */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { exitStatus } from "../../shared/errors.ts";
import { project, smallCatalog } from "../support/project.ts";
import { program, relcat, repository, spawnRelcat } from "../support/run.ts";

const launcher = join(repository, "cli/relcat.mjs");
const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));

const commands = [
  ["init"],
  ["new"],
  ["notes"],
  ["notes", "show"],
  ["notes", "lint"],
  ["notes", "add"],
  ["check"],
  ["status"],
  ["list"],
  ["affected"],
  ["build"],
  ["cut"],
  ["uncut"],
  ["ledger"],
  ["ledger", "rebase"],
  ["channel"],
  ["channel", "list"],
  ["channel", "show"],
  ["channel", "promote"],
  ["channel", "halt"],
  ["channel", "resume"],
  ["retract"],
  ["reinstate"],
  ["upload"],
  ["serve"],
  ["controller"],
  ...["init", "serve", "keys", "users", "audit", "backup", "restore", "migrate"].map((name) => [
    "controller",
    name,
  ]),
  ...["create", "list", "rotate", "revoke", "disable", "enable"].map((name) => ["controller", "keys", name]),
  ...["add", "list", "passwd", "role", "disable", "enable"].map((name) => ["controller", "users", name]),
  ...["verify", "show"].map((name) => ["controller", "audit", name]),
  ["login"],
  ["logout"],
  ["devices"],
  ...["list", "show", "history", "watch", "accept", "reject"].map((name) => ["devices", name]),
  ...["rename", "assign", "delete", "export", "import", "enroll"].map((name) => ["devices", name]),
  ["schema"],
  ["completion"],
];

test.each(["--version", "-V"])("%s prints the package's version", async (flag) => {
  const { stdout, stderr, exitCode } = await spawnRelcat(repository, [flag]);
  expect({ stdout, stderr, exitCode }).toEqual({ stdout: version, stderr: "", exitCode: 0 });
});

const alone = "relcat --version prints it.";

test.each([
  ["cut --version 26.09.001", "did you mean: relcat cut 26.09.001"],
  ["cut --version=26.09.001 --commit", "did you mean: relcat cut 26.09.001 --commit"],
  [
    "-C demo retract --version 26.10.001 --reason x --yes",
    "did you mean: relcat -C demo retract 26.10.001 --reason x --yes",
  ],
  [
    "upload --site prod --version 26.09.001 out/a.deb",
    "did you mean: relcat upload --site prod --release 26.09.001 out/a.deb",
  ],
  ["ingest -V 26.09.001 out/a.deb", "did you mean: relcat ingest --release 26.09.001 out/a.deb"],
  ["new --version 26.09", "did you mean: relcat new 26.09"],
  ["list --version 26.09.001", "did you mean: relcat list version=26.09.001"],
  ["notes show --version 26.09.001", "did you mean: relcat notes show 26.09.001"],
  ["download --version latest deb --from x", "did you mean: relcat download latest deb --from x"],
  ["build --version 26.09.001", alone],
  ["build --version", alone],
  ["cut --version", alone],
  ["-C demo --version", alone],
  ["--version --json", alone],
])("relcat %s does nothing and suggests the intended command", async (line, hint) => {
  const made = project(smallCatalog);
  const { stdout, stderr, exitCode } = await made.run(...line.split(" "));
  expect({ stderr, exitCode }).toEqual({
    stderr: `error[usage] --version prints the version of relcat, and takes no other words\n  hint: ${hint}`,
    exitCode: 2,
  });
  if (line.endsWith("--json")) expect(JSON.parse(stdout).problems[0].hint).toBe(hint);
  else expect(stdout).toBe("");
  expect(made.list(".")).toEqual(["releases"]);
});

test("help marks the required options of a command", async () => {
  const { stdout } = await relcat(repository, ["retract", "--help"]);
  expect(stdout).toMatch(/^ {2}--reason <text> .*\(required\)$/m);
  expect(stdout).not.toMatch(/^ {2}--type .*\(required\)$/m);
});

test.each(commands.map((path) => [path]))("%j --help is short and has an example", async (path) => {
  const { stdout, stderr, exitCode } = await relcat(repository, [...path, "--help"]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  expect(stdout).toContain(`Usage: relcat ${path.join(" ")}`);
  expect(stdout).toMatch(new RegExp(`\\nExample:\\n.*relcat ${path.join(" ")}\\b`));
  expect(stdout.split("\n").length).toBeLessThan(42);
});

const frequent = ["new", "ingest", "upload", "release", "status", "retract", "rollback"];

test.each([["help"], ["--help"], []])(
  "%j describes the seven frequent commands and only names the others",
  async (...words) => {
    const { stdout, stderr } = await relcat(repository, words);
    const help = stdout || stderr;
    const described = [...help.matchAll(/^ {2}([a-z]+) .* {2}[A-Z].*\.$/gm)].map(([, name]) => name);
    expect(described).toEqual(frequent);
    expect(help).toContain("\n  Controller:         controller, login, logout, devices\n");
    for (const [name] of commands) expect(help).toMatch(new RegExp(`\\b${name}\\b`));
    expect(help.split("\n").length).toBeLessThan(35);
  },
);

test("help --all describes every command, the frequent ones first, and every exit status", async () => {
  const { stdout, exitCode } = await relcat(repository, ["help", "--all"]);
  expect(exitCode).toBe(0);
  const explained = [...stdout.matchAll(/^ {2}(\d+) +\w/gm)].map(([, status]) => Number(status));
  expect(explained).toEqual([...Object.values(exitStatus), 10].sort((a, b) => a - b));
  const described = [...stdout.matchAll(/^ {2}([a-z]+) .* {2}[A-Z].*\.$/gm)].map(([, name]) => name);
  expect(described.slice(0, 7)).toEqual(frequent);
  for (const [name] of commands) expect(described).toContain(name);
  expect((await relcat(repository, ["--help", "--all"])).stdout).toBe(stdout);
});

test.each([[[]], [["notes"]]])(
  "%j without a subcommand prints the help and fails with a usage error",
  async (args) => {
    const { stdout, stderr, exitCode } = await relcat(repository, args);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toContain("Usage: relcat");
  },
);

describe("refuses invalid arguments in one sentence with a hint", () => {
  test.each([
    [["chekc"], "unknown command 'chekc'", "Did you mean check?"],
    [["help", "chekc"], "unknown command 'chekc'", "Did you mean check?"],
    [
      ["lint"],
      "unknown command 'lint'",
      "relcat check shows every problem of the release files, relcat status the next command.",
    ],
    [
      ["unpublish", "prod"],
      "unknown command 'unpublish'",
      "relcat retract withdraws records in public; relcat rollback makes an earlier build live.",
    ],
    [["help", "diff"], "unknown command 'diff'", "relcat plan shows what publishing would change."],
    [["nope"], "unknown command 'nope'", "relcat --help shows how it is used."],
    [["version"], "unknown command 'version'", "relcat --version prints it."],
    [["publish-everything"], "unknown command 'publish-everything'", "relcat --help shows how it is used."],
    [["notes", "shwo"], "unknown command 'shwo'", "Did you mean show?"],
    [["build", "--relesed"], "unknown option '--relesed'", "Did you mean --released?"],
    [
      ["build", "--out"],
      "the option --out <folder> needs a value",
      "relcat build --help shows how it is used.",
    ],
    [["uncut"], "the argument version is missing", "relcat uncut --help shows how it is used."],
    [
      ["new", "26.13"],
      '"26.13" is not a valid month',
      "Give a month such as 26.09: versions are YY.MM.NNN, and relcat finds the number.",
    ],
    [
      ["new", "26.09.001"],
      '"26.09.001" is not a valid month',
      "Give a month such as 26.09: versions are YY.MM.NNN, and relcat finds the number.",
    ],
    [
      ["new", "1.2.3"],
      '"1.2.3" is not a valid month',
      "Releases have calendar versions, YY.MM.NNN: relcat new opens the next one of this month, relcat new 26.09 one of that month. Your own version can stay in file names and notes.",
    ],
    [
      ["new", "26.09", "--date", "2026-02-30"],
      '"2026-02-30" is not valid for --date <date>',
      "Give a calendar date such as 2026-08-19.",
    ],
    [["cut", "26.9.1"], '"26.9.1" is not a valid version', "Give a version such as 26.08.002."],
    [
      ["cut", "26.0…"],
      '"26.0…" is not a valid version',
      "It was shortened when it was shown or copied. Give a version such as 26.08.002.",
    ],
    [
      ["plan", "26.08..."],
      '"26.08..." is not a valid version',
      "It was shortened when it was shown or copied. Give a version such as 26.08.002.",
    ],
    [
      ["retract", "26.08…", "--reason", "x"],
      'cannot tell what "26.08…" means',
      "It was shortened when it was shown or copied. Give ids of records, or one version such as 26.08.002.",
    ],
    [
      ["cut", "--allow-revise", "-1"],
      '"-1" is not valid for --allow-revise <count>',
      "Give a whole number, 0 or more.",
    ],
    [
      ["check", "--format", "xml"],
      '"xml" is not valid for --format <format>',
      "Allowed choices are text, json, github, sarif.",
    ],
    [
      ["check", "a", "b"],
      "too many arguments for 'check'. Expected 0 arguments but got 2: a, b.",
      "relcat check --help shows how it is used.",
    ],
    [["reinstate", "0"], '"0" is not a valid id', "Give the id of a record, a positive whole number."],
    [
      ["retract", "1"],
      "the option --reason <text> is missing",
      "relcat retract --help shows how it is used.",
    ],
    [
      ["notes", "add", "x"],
      "the option --component <key> is missing",
      "relcat notes add --help shows how it is used.",
    ],
    [
      ["completion", "tcsh"],
      '"tcsh" is not a valid shell',
      "Allowed choices are bash, zsh, fish, powershell.",
    ],
    [
      ["-C", "nowhere", "check"],
      "there is no folder nowhere here",
      "Give an existing folder with -C; relcat init FOLDER creates a new project.",
      "folder-missing",
    ],
    [
      ["check"],
      "there is no folder releases here",
      "Run relcat init to create one, or give the project's folder with -C. A project above this folder counts if it is yours.",
      "folder-missing",
    ],
    [
      ["build", "--with", "26.08.001"],
      "--with needs --released",
      "Without --released every version is built.",
    ],
  ])("relcat %j", async (args, message, hint, code = "usage") => {
    const { stdout, stderr, exitCode } = await project().run(...args);
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "",
      stderr: `error[${code}] ${message}\n  hint: ${hint}`,
      exitCode: 2,
    });
  });

  test("-C with a file, two formats at once, and a note without its section", async () => {
    const made = project({ ...smallCatalog, file: "text" });
    const said = async (...args: string[]) => (await made.run(...args)).stderr;
    expect(await said("-C", "file", "check")).toBe(
      "error[folder-missing] file is not a folder\n  hint: Give an existing folder with -C; relcat init FOLDER creates a new project.",
    );
    expect(await said("check", "--json", "--format", "github")).toBe(
      "error[usage] --json and --format github request two formats\n  hint: Give one of them.",
    );
    expect(await said("notes", "add", "x")).toBe(
      "error[usage] the option --component <key> is missing\n  hint: Give one of server, documentation, meta_control_plane.",
    );
    expect(await said("notes", "add", "x", "--component", "server")).toBe(
      "error[usage] the option --kind <key> is missing\n  hint: Give one of fix, feature.",
    );
    expect(await said("retract", "26.10.001", "--reason", "x")).toBe(
      "error[version-unknown] the ledger has no line of 26.10.001\n  hint: Nothing is cut yet. From a release that is not cut, remove the manifests instead.",
    );
  });

  test("--json prints a usage error as a document, before or after the command", async () => {
    for (const args of [
      ["--json", "chekc"],
      ["check", "--json"],
      ["check", "--format", "json"],
    ]) {
      const { stdout, exitCode } = await project().run(...args);
      const { schema_version, problems } = JSON.parse(stdout);
      expect({ schema_version, count: problems.length, exitCode }).toEqual({
        schema_version: 1,
        count: 1,
        exitCode: 2,
      });
      expect(Object.keys(problems[0])).toEqual([
        "code",
        "severity",
        "message",
        "hint",
        "file",
        "line",
        "column",
      ]);
    }
  });
});

test("-C runs in another folder: every path is relative to it", async () => {
  const { folder } = project(smallCatalog);
  const { stdout, exitCode } = await relcat("/", ["-C", folder, "build", "--out", "site", "--json"]);
  expect({ exitCode, out: JSON.parse(stdout).out }).toEqual({ exitCode: 0, out: "site" });
  const site = JSON.parse(readFileSync(join(folder, "site/build.json"), "utf8"));
  expect(site.schema_version).toBe(1);
});

describe("colours", () => {
  const control = "\u001b[";
  const broken = project({ "releases/catalog.yaml": "prodct: Example\n" });
  test.each([
    ["none where output is no terminal", [], {}, false],
    ["with FORCE_COLOR", [], { FORCE_COLOR: "1" }, true],
    ["--no-color wins over FORCE_COLOR", ["--no-color"], { FORCE_COLOR: "1" }, false],
    ["NO_COLOR", [], { NO_COLOR: "1" }, false],
  ])("%s", async (_, args, env, coloured) => {
    const { stdout, exitCode } = await relcat(broken.folder, ["check", ...args], { env });
    expect(exitCode).toBe(1);
    expect(stdout.includes(control)).toBe(coloured);
  });
});

describe("standard output", () => {
  test("can be closed by its reader without an error", async () => {
    const { folder } = project(smallCatalog);
    const result = await execa("bash", [
      "-c",
      'set -o pipefail; "$@" | true',
      "-",
      process.execPath,
      launcher,
      "-C",
      folder,
      "status",
      "--json",
    ]);
    expect(result.exitCode).toBe(0);
    expect(result.stderr).not.toMatch(/EPIPE|bug/);
  });

  test("reports a full disk in one sentence", async () => {
    const { folder } = project(smallCatalog);
    const script = '"$@" >/dev/full';
    const result = await execa(
      "bash",
      ["-c", script, "-", process.execPath, launcher, "-C", folder, "status"],
      { reject: false },
    );
    expect(result.exitCode).toBe(2);
    expect(result.stderr.match(/error\[file-access\] cannot write the output \(ENOSPC\)/g)).toHaveLength(1);
  });

  test.each(["check", "status --json", "build", "nonsense"])(
    "%s ends if standard error is full as well",
    async (line) => {
      const { folder } = project(smallCatalog);
      const script = '"$@" >/dev/full 2>&1';
      const words = ["-", process.execPath, program, "-C", folder, ...line.split(" ")];
      const { exitCode, timedOut } = await execa("bash", ["-c", script, ...words], {
        reject: false,
        timeout: 30_000,
      });
      expect({ exitCode, timedOut }).toEqual({ exitCode: 2, timedOut: false });
    },
  );

  test("serve answers without a log, and ends with the status of a full disk", async () => {
    const { folder, succeed } = project(smallCatalog);
    await succeed("build");
    const script = 'exec "$@" 2>/dev/full';
    const words = ["-", process.execPath, program, "-C", folder, "serve", "--json", "--port", "0"];
    const server = execa("bash", ["-c", script, ...words], { reject: false, timeout: 30_000 });
    for await (const line of server) {
      const { url, event } = JSON.parse(line);
      if (event === "listening") await fetch(`${url}/`);
      else server.kill("SIGTERM");
    }
    expect(await server).toMatchObject({ exitCode: 2, timedOut: false });
  });
});

test("a current folder that was removed is named", async () => {
  const script = 'mkdir gone; cd gone; rmdir "$PWD"; exec "$0" "$@"';
  const words = [process.execPath, program, "check"];
  const { exitCode, stderr } = await execa("sh", ["-c", script, ...words], {
    cwd: project().folder,
    reject: false,
  });
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining("error[file-access] cannot read the current folder: there is no such file"),
  ]);
});
