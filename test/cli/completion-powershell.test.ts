import { expect, test } from "vitest";
import { project, release, smallCatalog } from "../support/project.ts";
import { relcat, repository } from "../support/run.ts";

// PowerShell is not in Debian, so the script itself is not run: the command that gives it all words is.

const words = async (folder: string, state: "begun" | "next", ...line: string[]) => {
  const { stdout, stderr, exitCode } = await relcat(folder, ["__words", state, "--", ...line]);
  expect(stderr).toBe("");
  // 9: only listed words are possible. Anything else may be a file.
  expect(exitCode).toBe(line.at(-1) === "--out" || line.at(-1) === "-C" ? 0 : 9);
  return stdout.split("\n").map((each) => each.split("\t")[0]);
};

test.each([
  ["begun", ["che"], ["check"]],
  ["begun", ["-C", "build", "che"], ["check"]],
  ["next", ["notes"], ["show", "lint", "add", "help"]],
  ["begun", ["notes", "add", "--comp"], ["--component"]],
  ["next", ["notes", "show", "--format"], ["markdown", "html", "json", "text"]],
  ["begun", ["check", "--format", "t"], ["text"]],
  ["begun", ["build", "--out", "notes", "--rel"], ["--released"]],
  ["next", ["build", "--out"], [""]],
  ["next", ["-C"], [""]],
  ["next", ["completion"], ["bash", "zsh", "fish", "powershell"]],
] as const)("completes a word %s after %j to %j", async (state, line, expected) => {
  expect(await words(repository, state, ...line)).toEqual(expected);
});

test("completes sites, versions and fields of the project", async () => {
  const { folder } = project({
    ...smallCatalog,
    ...release("26.10.001", []),
    "releases/catalog.yaml": {
      product: "Example",
      require: {},
      sites: { prod: { url: "dir:/srv/prod" }, staging: { url: "dir:/srv/staging" } },
    },
  });
  expect(await words(folder, "next", "publish")).toEqual(["prod", "staging"]);
  expect(await words(folder, "begun", "build", "--site", "s")).toEqual(["staging"]);
  expect(await words(folder, "begun", "cut", "26.1")).toEqual(["26.10.001"]);
  expect(await words(folder, "begun", "list", "min_")).toEqual(["min_os_version="]);
});

test("the script passes the line to that command, and its brackets are balanced", async () => {
  const { stdout } = await relcat(repository, ["completion", "powershell"]);
  expect(stdout).toContain("Register-ArgumentCompleter -Native -CommandName relcat -ScriptBlock {");
  expect(stdout).toContain("& relcat -C $folder __words $state -- @words 2>$null");
  const code = stdout.replace(/'[^']*'|"[^"]*"|^#.*$/gm, "");
  const open: string[] = [];
  for (const [bracket] of code.matchAll(/[[\](){}]/g)) {
    if ("[({".includes(bracket)) open.push(bracket);
    else expect(`${open.pop()}${bracket}`).toMatch(/^(\[\]|\(\)|\{\})$/);
  }
  expect(open).toEqual([]);
  expect(code.includes('"') || code.includes("'")).toBe(false);
});
