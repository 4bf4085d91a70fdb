import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { repository, temporaryFolder } from "../support/run.ts";

const readme = readFileSync(join(repository, "README.md"), "utf8");

interface Step {
  command: string;
  output: string;
}

/** The commands of the README's console blocks with the output printed below them; `<<'END'` texts belong to the command. */
function steps(markdown: string): Step[] {
  const lines = [...markdown.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) =>
    block.trimEnd().split("\n"),
  );
  const found: Step[] = [];
  let heredoc = false;
  for (const line of lines) {
    const step = found.at(-1);
    if (heredoc && step) {
      step.command += `\n${line}`;
      heredoc = line !== "END";
    } else if (line.startsWith("$ ")) {
      found.push({ command: line.slice(2), output: "" });
      heredoc = line.includes("<<'END'");
    } else if (step) step.output += `${line}\n`;
  }
  return found;
}

/** Sizes change with every word of a template. */
const withoutSizes = (text: string) => text.replace(/\d+\.\d kB in all/g, "… kB in all").trimEnd();

/** The tour was written in November 2026; `init` takes the month of the day. */
function inThisMonth(text: string): string {
  const now = new Date().toISOString();
  return text.replaceAll("26.11.001", `${now.slice(2, 4)}.${now.slice(5, 7)}.001`);
}

test("the tour prints what the README says it prints", async () => {
  const home = temporaryFolder();
  writeFileSync(
    join(home, "relcat"),
    `#!/bin/sh\nexec '${process.execPath}' '${join(repository, "cli/relcat.mjs")}' "$@"\n`,
  );
  chmodSync(join(home, "relcat"), 0o755);
  const tour = steps(inThisMonth(readme));
  expect(tour.length).toBeGreaterThan(8);
  const marker = "----- next step";
  const script = tour.map(({ command }) => `${command}\necho '${marker}'`).join("\n");
  const env = {
    PATH: `${home}:${process.env.PATH}`,
    CI: undefined,
    GITHUB_ACTIONS: undefined,
    SOURCE_DATE_EPOCH: undefined,
  };
  const { all } = await execa("bash", ["-c", script], { cwd: home, env, all: true, reject: false });
  const printed = String(all).split(`${marker}\n`);
  for (const [index, { command, output }] of tour.entries()) {
    const shown = withoutSizes(printed[index]?.replace(marker, "") ?? "");
    expect(`$ ${command}\n${shown}`).toBe(`$ ${command}\n${withoutSizes(output)}`);
  }
}, 60_000);

test("every file a document links to is there", () => {
  for (const file of ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"]) {
    const text = readFileSync(join(repository, file), "utf8");
    for (const [, link = ""] of text.matchAll(/\]\(([^)#:]+)\)/g))
      expect(existsSync(join(repository, link)), `${file} → ${link}`).toBe(true);
  }
});

test("every command of the table exists, and every command is in the table", async () => {
  const { stdout } = await execa(process.execPath, [join(repository, "cli/relcat.mjs"), "--help"]);
  const commands = [...stdout.matchAll(/^ {2}([a-z]+)\b(?! is)/gm)]
    .map(([, name]) => name)
    .filter((name) => name !== "relcat" && name !== "help");
  const named = new Set([...readme.matchAll(/`relcat ([a-z]+)/g)].map(([, name]) => name));
  expect(commands.filter((name) => !named.has(name))).toEqual([]);
  expect([...named].filter((name) => !commands.includes(name))).toEqual([]);
});
