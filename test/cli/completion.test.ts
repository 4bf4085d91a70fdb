import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { project } from "../support/project.ts";
import { program, relcat, repository, temporaryFolder } from "../support/run.ts";

const isThere = async (shell: string) =>
  (await execa(shell, ["--version"], { reject: false })).exitCode === 0;

const bin = temporaryFolder();
writeFileSync(join(bin, "relcat"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
chmodSync(join(bin, "relcat"), 0o755);
const env = { PATH: `${bin}:${process.env.PATH}` };

const script = async (shell: string) => {
  const { stdout, stderr, exitCode } = await relcat(repository, ["completion", shell]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return stdout;
};

describe("in bash", () => {
  let bash: string;
  beforeAll(async () => {
    bash = await script("bash");
  });

  /** Suggestions of bash for the last word. */
  async function offered(...words: string[]): Promise<string[]> {
    const ask = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _relcat; IFS=,; echo "\${COMPREPLY[*]}"`;
    const { stdout } = await execa("bash", ["-c", `${bash}\n${ask}`, "bash", ...words], { env });
    return stdout.split(",");
  }

  test.each([
    [["relcat", "che"], ["check"]],
    [["relcat", "-C", "build", "che"], ["check"]],
    [["relcat", "--json", "uncu"], ["uncut"]],
    [
      ["relcat", "notes", ""],
      ["show", "lint", "add", "help"],
    ],
    [["relcat", "notes", "add", "--comp"], ["--component"]],
    [
      ["relcat", "notes", "show", "--format", ""],
      ["markdown", "html", "json", "text"],
    ],
    [["relcat", "check", "--format", "t"], ["text"]],
    [["relcat", "build", "--out", "notes", "--rel"], ["--released"]],
    [
      ["relcat", "completion", ""],
      ["bash", "zsh", "fish", "powershell"],
    ],
    [["relcat", "check", ""], [""]],
  ])("completes %j to %j", async (words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });

  test("offers every command of help --all, and options only after a dash", async () => {
    const { stdout } = await relcat(repository, ["help", "--all"]);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+)(?: [[<]| {2})/gm)].map(([, name]) => name ?? "");
    const words = await offered("relcat", "");
    expect(words.sort()).toEqual([...new Set(commands)].sort());
    expect(await offered("relcat", "-")).toEqual(
      expect.arrayContaining(["-C", "--json", "--no-color", "--help", "--version"]),
    );
  });
});

const hasFish = await isThere("fish");
test.skipIf(!hasFish)("fish completes commands and options", async () => {
  const { folder, write } = project();
  write("relcat.fish", await script("fish"));
  const offered = async (line: string) => {
    const { stdout } = await execa(
      "fish",
      ["--no-config", "-c", `source relcat.fish; complete -C '${line}'`],
      { cwd: folder, env },
    );
    return stdout.split("\n").map((each) => each.split("\t")[0]);
  };
  expect(await offered("relcat che")).toEqual(["check"]);
  expect(await offered("relcat -C x unc")).toEqual(["uncut"]);
  expect(await offered("relcat notes ")).toEqual(["show", "lint", "add", "help"]);
  expect(await offered("relcat notes show --format ")).toEqual(["markdown", "html", "json", "text"]);
});

const hasZsh = await isThere("zsh");
test.skipIf(!hasZsh)("zsh parses the script without an error", async () => {
  const { folder, write } = project();
  write("relcat.zsh", await script("zsh"));
  const { stdout, stderr } = await execa("zsh", ["-f", "-c", "compdef() { print $@ }; source ./relcat.zsh"], {
    cwd: folder,
  });
  expect({ stdout, stderr }).toEqual({ stdout: "_relcat relcat", stderr: "" });
});

test("--json prints the script as a document", async () => {
  const { stdout } = await relcat(repository, ["completion", "bash", "--json"]);
  expect(JSON.parse(stdout)).toEqual({
    schema_version: 1,
    shell: "bash",
    script: `${await script("bash")}\n`,
  });
});
