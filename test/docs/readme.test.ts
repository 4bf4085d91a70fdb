import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { codes, exitStatus } from "../../pipeline/errors.ts";
import { program, repository, temporaryFolder } from "../support/run.ts";
import { launcher, withNextPasted } from "./pasted.ts";

const readme = readFileSync(join(repository, "README.md"), "utf8");

test("the exit statuses are those of the code, and of plan --detailed-exitcode", () => {
  const [sentence = ""] = /^Exit status: [\s\S]*?\.$/m.exec(readme) ?? [];
  const listed = [...sentence.matchAll(/\b(\d+) [a-z]/g)].map(([, status]) => Number(status));
  expect(listed).toEqual([...Object.values(exitStatus), 10].sort((a, b) => a - b));
  for (const status of Object.values(codes)) expect(Object.values(exitStatus)).toContain(status);
});

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

/** Sizes change with every template, and a manifest's name with its version. */
const withoutSizes = (text: string) =>
  text
    .replace(/\d+\.\d kB in all/g, "… kB in all")
    .replace(/build-[0-9a-f]{8}/g, "build-…")
    .trimEnd();

const inTour = (home: string) => ({
  PATH: `${home}:${process.env.PATH}`,
  CI: undefined,
  GITHUB_ACTIONS: undefined,
  SOURCE_DATE_EPOCH: undefined,
});

test("the tour prints the output in the README", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "relcat"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(home, "relcat"), 0o755);
  const tour = steps(readme);
  expect(tour.length).toBeGreaterThan(8);
  const marker = "----- next step";
  const script = tour.map(({ command }) => `${command}\necho '${marker}'`).join("\n");
  const env = inTour(home);
  // One pipe keeps the order of the output; two would not.
  const { stdout } = await execa("bash", ["-c", `exec 2>&1\n${script}`], { cwd: home, env, reject: false });
  const printed = stdout.split(`${marker}\n`);
  for (const [index, { command, output }] of tour.entries()) {
    const shown = withoutSizes(printed[index]?.replace(marker, "") ?? "");
    expect(`$ ${command}\n${shown}`).toBe(`$ ${command}\n${withoutSizes(output)}`);
  }
});

test("the next commands of the tour work when they are pasted", { tags: ["long"] }, async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "relcat"), launcher(home));
  chmodSync(join(home, "relcat"), 0o755);
  const script = steps(readme)
    .map(({ command }) => command)
    .join("\n");
  const git = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const ann = { GIT_AUTHOR_NAME: "Ann", GIT_AUTHOR_EMAIL: "ann@example.com" };
  const committer = { GIT_COMMITTER_NAME: "Ann", GIT_COMMITTER_EMAIL: "ann@example.com" };
  const { exitCode, pasted } = await withNextPasted((env) =>
    execa("bash", ["-c", script], {
      cwd: home,
      env: { ...inTour(home), ...git, ...ann, ...committer, ...env },
    }),
  );
  expect(exitCode).toBe(0);
  expect(pasted).toEqual([...readme.matchAll(/^Next: (.*)$/gm)].map(([, next]) => next));
});

test("every file that a document links to exists", () => {
  for (const file of ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"]) {
    const text = readFileSync(join(repository, file), "utf8");
    for (const [, link = ""] of text.matchAll(/\]\(([^)#:]+)\)/g))
      expect(existsSync(join(repository, link)), `${file} → ${link}`).toBe(true);
  }
});

test("the table has every command, and no others", async () => {
  const { stdout } = await execa(process.execPath, [program, "--help"]);
  const commands = [...stdout.matchAll(/^ {2}([a-z]+)\b(?! is)/gm)]
    .map(([, name]) => name)
    .filter((name) => name !== "relcat" && name !== "help");
  const named = new Set([...readme.matchAll(/`relcat ([a-z]+)/g)].map(([, name]) => name));
  expect(commands.filter((name) => !named.has(name))).toEqual([]);
  expect([...named].filter((name) => !commands.includes(name))).toEqual([]);
});
