import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitStatuses } from "../../cli/terminal/exit-codes.ts";
import { codes, exitStatus } from "../../shared/errors.ts";
import { repository } from "../support/run.ts";
import { commandSection, type NamedCommand, program, runnable } from "./command-reference.ts";

const intro = `# Commands

\`relcat help COMMAND\` prints the same text. [Exit codes](exit-codes.md) and [environment variables](environment.md) have their own pages.

## Options of every command
| option | meaning |
|---|---|
${program.options
  .filter(({ short }) => short !== "-V")
  .map(
    ({ flags, description }) =>
      `| \`${flags}\` | ${description.slice(0, 1).toUpperCase()}${description.slice(1)}. |`,
  )
  .join("\n")}
| \`-h, --help\` | Print the help of the command. |

\`relcat --version\` prints the version, if it is the only word. Where a command has them, \`-o\` is short for \`--out\`, \`-n\` for \`--dry-run\` and \`-y\` for
\`--yes\`. A command with \`--dry-run\` checks everything, prints what it would do, and writes nothing.

## Where commands find the project
Commands work in every folder of a project. They search the current folder and its parents up to the top of the git work tree, and skip projects that
belong to another user. \`init\` does not search parents.

- Paths on the command line and in messages are relative to the current folder.
- \`releases\`, \`dist\` and relative paths in \`catalog.yaml\` are relative to the project.

## How the ledger is compared
In a git repository, \`check\`, \`cut\`, \`build --released\`, \`status\`, \`sign\`, \`retract\`, \`reinstate\`, \`uncut\` and \`import\` compare the ledger with its version at
the merge base of HEAD and \`ledger.base\` (\`origin/main\` unless \`catalog.yaml\` names another). If the base already contains HEAD, they compare it with its
versions at HEAD and at the first parent of HEAD. A ledger that is missing, shorter or rewritten is an error.

- \`--no-base\` skips the comparison. If git cannot find these versions, one line says why.
- \`plan\` compares the whole catalog with \`ledger.base\`, or with an empty catalog until the repository has a commit and a remote.

## What servers log
\`serve\` and \`controller serve\` log one short line per request on a terminal. Elsewhere, or with \`--json\`, they log JSON lines.
`;

const commands = [...runnable()];

/** The heading in the list of commands: that of the first word. */
const groupOf = ({ words }: NamedCommand) => {
  const [, first] = words.split(" ");
  const top = program.commands.find((command) => command.name() === first);
  return (top?.helpGroup() ?? "").replace(":", "");
};

function groupsOf(): string {
  const groups = Map.groupBy(commands, groupOf);
  return [...groups]
    .map(([group, members]) => `## ${group}\n\n${members.map(commandSection).join("\n")}`)
    .join("\n");
}

test("docs/commands.md lists every command with its arguments, options and an example", async () => {
  expect(commands.length).toBeGreaterThan(50);
  await expect(`${intro}\n${groupsOf()}`).toMatchFileSnapshot(join(repository, "docs/commands.md"));
});

const statuses = [...exitStatuses.matchAll(/^ {2}(\d+) +(.*)$/gm)].map(
  ([, status, meaning = ""]) => [Number(status), meaning] as const,
);

/** Advice for scripts; statuses without a line need none. */
const advice: Readonly<Record<number, string>> = {
  0: "Continue.",
  1: "Read the messages on standard error, and correct the input.",
  2: "Correct the command line, the environment or a missing folder.",
  3: "Another writer was first. Fetch, or wait, then run the command again.",
  4: "Check credentials and permissions.",
  5: "Try again.",
  6: "Do not use the files. Inform their publisher.",
  7: "Sign again: `relcat publish SITE --refresh`.",
  8: "The files are right. Reload or correct the web server.",
  9: "Stop: a person decided so.",
  10: "Not an error: there is something to publish.",
  70: "Report it, with the printed text.",
};

function exitCodes(): string {
  const rows = statuses.map(([status, meaning]) => `| ${status} | ${meaning} | ${advice[status]} |`);
  const byStatus = Map.groupBy(Object.entries(codes), ([, status]) => status);
  const lists = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, entries]) => {
      const names = entries.map(([code]) => `\`${code}\``).sort();
      return `### ${status}\n${names.join(", ")}\n`;
    });
  return `# Exit codes

| status | meaning | what a script does |
|---|---|---|
${rows.join("\n")}

If a command reports several problems, the first error decides. \`inspect\` exits with 0 if every verdict is \`ok\`, and with 1 otherwise.

## Codes of problems
Each problem is printed with its code, such as \`error[unknown-key]\`. With \`--json\`, it is a member \`code\` of each entry of \`problems\`. Codes do not change
within a major version, so scripts can rely on them. A problem of severity \`warning\` does not change the exit status.

${lists.join("\n")}`;
}

test("docs/exit-codes.md has every exit status and every code", async () => {
  expect(statuses.map(([status]) => status)).toEqual(
    [...Object.values(exitStatus), 10].sort((a, b) => a - b),
  );
  expect(statuses.filter(([status]) => advice[status] === undefined)).toEqual([]);
  await expect(exitCodes()).toMatchFileSnapshot(join(repository, "docs/exit-codes.md"));
});

const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: repository })].filter(
  (path) => !path.startsWith("docs/decisions/"),
);

/** Commands of relcat in code blocks and `code`, in words. */
function* callsIn(markdown: string): Generator<string[]> {
  const blocks = [...markdown.matchAll(/^```(?:sh|console)\n([\s\S]*?)^```$/gm)].map(
    ([, block = ""]) => block,
  );
  const spans = [...markdown.matchAll(/`(relcat [^`\n]*)`/g)].map(([, span = ""]) => span);
  const texts = [...blocks, ...spans].map((text) =>
    text.replace(/\\\n/g, " ").replace(/<<'END'[\s\S]*?^END$/gm, ""),
  );
  for (const [, call = ""] of texts.join("\n").matchAll(/(?:^|[;&|(]|\$ |do )\s*relcat ([^;&|#\n]*)/gm))
    yield call
      .replace(/"[^"]*"|'[^']*'/g, "TEXT")
      .trim()
      .split(/\s+/);
}

function faultIn(words: readonly string[]): string | undefined {
  let command = program as NamedCommand["command"];
  let rest = words;
  if (rest[0] === "-C") rest = rest.slice(2);
  if (rest[0]?.startsWith("-") || rest[0] === "help") return undefined;
  while (command.commands.length > 0) {
    const [name = ""] = rest;
    // A text may mean all of them: relcat devices.
    if (!/^[a-z]+$/.test(name)) return undefined;
    const next = command.commands.find((each) => each.name() === name);
    if (!next) return `there is no command ${name}`;
    command = next;
    rest = rest.slice(1);
  }
  const known = [...command.options, ...program.options].flatMap(({ long, short }) => [long, short]);
  const unknown = rest
    .filter((word) => /^--?[a-z]/.test(word))
    .map((word) => word.replace(/=.*$/, ""))
    .find((word) => word !== "--help" && !known.includes(word));
  return unknown && `there is no option ${unknown}`;
}

test.each(pages)("%s names only commands and options that exist", (path) => {
  const faults = [...callsIn(readFileSync(join(repository, path), "utf8"))].flatMap((words) => {
    const fault = faultIn(words);
    return fault ? [`relcat ${words.join(" ")}: ${fault}`] : [];
  });
  expect(faults).toEqual([]);
});

test.each([
  ["relcat publish prod --refresh", 0],
  ["relcat publish prod --refesh", 1],
  ["relcat deploy prod", 1],
  ["relcat trust rotate online --keys=x", 0],
  ["relcat build --released && relcat sign --nothing", 1],
])("%s has %i faults", (line, count) => {
  const faults = [...callsIn(`\`${line}\``)].map(faultIn).filter(Boolean);
  expect(faults).toHaveLength(count);
});
