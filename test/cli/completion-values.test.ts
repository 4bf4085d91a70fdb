/** @module-tag long */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { cutCatalog, type Project, project, release } from "../support/project.ts";
import { program, relcat, repository, spawnRelcat, temporaryFolder } from "../support/run.ts";

const isThere = async (shell: string) =>
  (await execa(shell, ["--version"], { reject: false })).exitCode === 0;

const bin = temporaryFolder();
writeFileSync(join(bin, "relcat"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
chmodSync(join(bin, "relcat"), 0o755);
const env = { PATH: `${bin}:${process.env.PATH}`, TERM: "dumb" };

/** 26.08.001 and 26.09.001 are cut, id 2 is withdrawn, 26.10.001 is open; the folder also holds the three scripts. */
let made: Project;
beforeAll(async () => {
  made = await cutCatalog();
  await made.succeed("retract", "2", "--reason", "Broken.", "--yes");
  made.write("releases/catalog.yaml", {
    product: "Example",
    require: {},
    sites: { prod: { url: "dir:/srv/prod" }, staging: { url: "dir:/srv/staging" } },
    notes: { components: { server: "Server", client: "Client" } },
  });
  for (const [path, content] of Object.entries(release("26.10.001", []))) made.write(path, content);
  for (const shell of ["bash", "zsh", "fish"])
    made.write(`relcat.${shell}`, (await made.succeed("completion", shell)).stdout);
});

describe("in bash", () => {
  async function offered(...words: string[]): Promise<string[]> {
    const ask = `source relcat.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _relcat; IFS=,; echo "\${COMPREPLY[*]}"`;
    const { stdout, stderr } = await execa("bash", ["-c", ask, "bash", ...words], { cwd: made.folder, env });
    expect(stderr).toBe("");
    return stdout.split(",");
  }

  test("offers versions, the newest first", async () => {
    expect(await offered("relcat", "plan", "")).toEqual(["26.10.001", "26.09.001", "26.08.001"]);
    expect(await offered("relcat", "plan", "26.10.001", "26.08")).toEqual(["26.08.001"]);
    expect(await offered("relcat", "build", "--released", "--with", "")).toEqual([
      "26.10.001",
      "26.09.001",
      "26.08.001",
    ]);
  });

  test("offers open versions for cut, and cut versions for uncut", async () => {
    expect(await offered("relcat", "cut", "")).toEqual(["26.10.001"]);
    expect(await offered("relcat", "cut", "26.10.001", "")).toEqual([""]);
    expect(await offered("relcat", "uncut", "")).toEqual(["26.09.001", "26.08.001"]);
  });

  test("offers cut versions for retract, and withdrawn ones for reinstate", async () => {
    const versions = ["26.09.001", "26.08.001"];
    expect(await offered("relcat", "retract", "")).toEqual([...versions, "5", "4", "3", "1"]);
    expect(await offered("relcat", "retract", "3")).toEqual(["3"]);
    expect(await offered("relcat", "retract", "1", "--replaced-by", "")).toEqual(["5", "4", "3", "1"]);
    expect(await offered("relcat", "reinstate", "")).toEqual(["2"]);
  });

  test("offers the sites, components and kinds of catalog.yaml", async () => {
    expect(await offered("relcat", "publish", "")).toEqual(["prod", "staging"]);
    expect(await offered("relcat", "build", "--site", "s")).toEqual(["staging"]);
    expect(await offered("relcat", "notes", "add", "--component", "")).toEqual(["server", "client"]);
    expect(await offered("relcat", "notes", "add", "--kind", "")).toEqual(["fix", "feature"]);
  });

  test("offers releases, then package types for download", async () => {
    expect(await offered("relcat", "download", "")).toEqual([
      "latest",
      "26.09",
      "26.08",
      "26.09.001",
      "26.08.001",
    ]);
    expect(await offered("relcat", "download", "latest", "")).toEqual(["msi", "rpm"]);
  });

  test("offers fields for list, with their equals sign", async () => {
    expect(await offered("relcat", "list", "min_")).toEqual(["min_os_version="]);
    expect(await offered("relcat", "list", "o")).toEqual([
      "operating_system=",
      "only_for_account=",
      "ordering=",
    ]);
  });

  test("offers the package types of the ledger", async () => {
    expect(await offered("relcat", "retract", "26.09.001", "--type", "")).toEqual(["msi", "rpm"]);
    expect(await offered("relcat", "retract", "--type", "m")).toEqual(["msi"]);
  });

  test("offers the names of schemas", async () => {
    expect(await offered("relcat", "schema", "rel")).toEqual([
      "release",
      "release-document",
      "release-index",
      "release-notes",
    ]);
  });

  test("reads the folder after -C, and offers nothing for a free text", async () => {
    const other = project(release("27.01.001", []));
    expect(await offered("relcat", "-C", other.folder, "cut", "")).toEqual(["27.01.001"]);
    expect(await offered("relcat", "-C", "/nowhere", "cut", "")).toEqual([""]);
    expect(await offered("relcat", "retract", "--reason", "")).toEqual([""]);
  });
});

test.skipIf(!(await isThere("fish")))("fish shows each value with its description", async () => {
  const offered = async (line: string) => {
    const script = `source relcat.fish; complete -C '${line}'`;
    const options = { cwd: made.folder, env };
    return (await execa("fish", ["--no-config", "-c", script], options)).stdout.split("\n");
  };
  expect(await offered("relcat cut ")).toEqual(["26.10.001\tnot cut"]);
  expect(await offered("relcat publish ")).toEqual(["prod\tdir:/srv/prod", "staging\tdir:/srv/staging"]);
  expect(await offered("relcat plan ")).toEqual([
    "26.10.001\tnot cut",
    "26.09.001\t3 records in the ledger",
    "26.08.001\t2 records in the ledger",
  ]);
  expect(await offered("relcat retract 26.08.001 --type ")).toEqual([
    "msi\t1 record in the ledger",
    "rpm\t1 record in the ledger",
  ]);
  expect(await offered("relcat notes add --release 26.1")).toEqual(["26.10.001\tnot cut"]);
});

describe.skipIf(!(await isThere("zsh")))("in zsh, in a terminal", { tags: ["long"] }, () => {
  /** Types a line and two tabs, and reads until the screen shows what matches the pattern. */
  async function screen(line: string, pattern: string): Promise<string> {
    made.write(
      "drive.zsh",
      `zmodload zsh/zpty
zpty shell "zsh -f -i"
zpty -w shell "PROMPT=; autoload -Uz compinit; compinit -u -D; source ./relcat.zsh; print re\\"\\"ady"
zpty -r shell seen '*ready*'
zpty -w -n shell "$1"$'\\t\\t'
zpty -r shell seen "*$2*"
print -r -- "$seen"
zpty -d shell
`,
    );
    const options = { cwd: made.folder, env, timeout: 300_000 };
    return (await execa("zsh", ["-f", "drive.zsh", line, pattern], options)).stdout;
  }

  test("shows commands and versions with their descriptions", async () => {
    expect(await screen("relcat u", "uncut")).toContain("uncut");
    expect(await screen("relcat notes ", "show ")).toMatch(/add +-- Add a note for the next release/);
    expect(await screen("relcat plan 26.", "not cut")).toMatch(
      /26\.08\.001 +-- 2 records in the ledger.*26\.10\.001 +-- not cut/s,
    );
    expect(await screen("relcat retract 26.09.001 --type m", "msi")).toContain("--type msi");
    expect(await screen("relcat list min_os_v", "version=")).toMatch(/list min_os_version=(?! )/);
    expect(await screen("relcat check --", "--ledger-base")).toMatch(/--format +-- how to print/);
  });
});

describe("relcat __words", () => {
  test.each([
    ["outside a project", {}],
    ["a ledger that is a folder", { "releases/ledger.jsonl/x": "" }],
    ["a ledger that is not one", { "releases/ledger.jsonl": "<<<<<<< HEAD\n\u0000\n" }],
  ])("offers nothing and prints no error: %s", async (_, files) => {
    for (const line of [["plan"], ["retract"], ["retract", "--type"], ["publish"], ["download", "latest"]]) {
      const { stdout, stderr, exitCode } = await project(files).run("__words", "begun", "--", ...line, "x");
      expect({ stdout, stderr, exitCode }).toEqual({ stdout: "", stderr: "", exitCode: 9 });
    }
  });

  test("offers nothing that a shell would expand", async () => {
    const line = (type: string) => `{"event":"add","id":1,"version":"26.08.001","package_type":"${type}"}\n`;
    const { run } = project({ "releases/ledger.jsonl": line("$(touch x)") + line("`id`") + line("msi") });
    expect((await run("__words", "next", "--", "retract", "--type")).stdout).toBe(
      "msi\t1 record in the ledger",
    );
  });

  test("loads no module of the pipeline", async () => {
    const trace = ["--import", `data:text/javascript,${encodeURIComponent(loaded)}`];
    const { stdout } = await spawnRelcat(made.folder, ["__words", "next", "--", "plan"], { nodeArgs: trace });
    expect(stdout).toContain("26.10.001\tnot cut");
    expect(stdout).not.toContain("LOADED");
  });

  test("is not in --help", async () => {
    expect((await relcat(repository, ["--help"])).stdout).not.toContain("__words");
  });
});

/** Reports when a module of the pipeline is loaded. */
const loaded = `import { registerHooks } from "node:module";
registerHooks({ load: (url, context, next) => {
  if (/\\/(pipeline|inspect|controller)\\//.test(url) || url.includes("/zod/")) console.log("LOADED", url);
  return next(url, context);
} });`;
