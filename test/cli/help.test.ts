import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { pointers } from "../../cli/terminal/commander-error.ts";
import { leavesOf, statusesOf } from "../../cli/terminal/exit-codes.ts";
import { variables } from "../../cli/terminal/topics.ts";
import { configSchema } from "../../pipeline/documents/config.ts";
import { defaultPackageTypes } from "../../shared/package-types.ts";
import { keysOf } from "../docs/config-keys.ts";
import { relcat, repository } from "../support/run.ts";
import { statusesRaisedBy } from "./raised.ts";
import { commandTable, currentManPage } from "./table.ts";

const read = (path: string) => readFileSync(join(repository, path), "utf8");
const leaves = [...leavesOf(commandTable())].map(([, path]) => path);

const folderOf = ([first = ""]: readonly string[]) =>
  /^(controller|devices)$/.test(first) ? `commands-${first}.ts` : "";

const tables = globSync("{cli,controller}/{,*/}commands*.ts", { cwd: repository }).map((file) => ({
  file,
  rows: read(file).split(/(?=\brow\w*\()/),
}));

/** A row imports a module, or calls a constant of its file that does. */
function importsOf(row: string, table: string): string[] {
  const named = [...table.matchAll(/^const (\w+) = \(\) => import\("(\.[^"]+)"\);$/gm)];
  const called = named.filter(([, name]) => new RegExp(`\\b${name}\\(\\)`).test(row));
  const own = [...row.matchAll(/import\("(\.[^"]+)"\)/g)];
  return [...own.map(([, target = ""]) => target), ...called.map(([, , target = ""]) => target)];
}

/**
 * The module that a command's row imports, by the words of the command. Rows of a loop have no name of their own, so
 * they count for each command below theirs that has no other row; in a folder of its own, for each command.
 */
function moduleOf(path: readonly string[]): string[] {
  const rowsThat = (start: RegExp) =>
    tables
      .filter(({ file }) => file.includes(folderOf(path)))
      .flatMap(({ file, rows }) => rows.filter((row) => start.test(row)).map((row) => ({ file, row })));
  const named = rowsThat(new RegExp(`^row\\w*\\(\\s*\\w+,\\s*"${path.at(-1)}"`));
  const looped = rowsThat(new RegExp(`^row\\w*\\(\\s*${path.at(-2)},\\s*[a-z]+,`));
  const own = named.length > 0 && folderOf(path) === "" ? named : [...named, ...looped];
  return own.flatMap(({ file, row }) => importsOf(row, read(file)).map((target) => join(file, "..", target)));
}

test.each(leaves.map((path) => [path.join(" "), path] as const))(
  "the help of %s lists only exit statuses that its code can raise",
  async (_, path) => {
    const modules = moduleOf(path);
    expect(modules).not.toEqual([]);
    // 10 is an answer of plan, not a problem.
    const raised = new Set([
      0,
      2,
      70,
      ...(path[0] === "plan" ? [10] : []),
      ...modules.flatMap(statusesRaisedBy),
    ]);
    expect(statusesOf(path).filter((status) => !raised.has(status))).toEqual([]);
    const { stdout } = await relcat(repository, [...path, "--help"]);
    expect(stdout).toContain(`\nExit status: ${statusesOf(path).join(", ")} (relcat help exit-codes)`);
  },
);

test("each command that asks a question has --yes", () => {
  const isAsking = ([, path]: readonly [unknown, readonly string[]]) =>
    moduleOf(path).some((file) => !/devices/.test(file) && read(file).includes("await confirmOrRefuse("));
  const asking = [...leavesOf(commandTable())].filter(isAsking);
  // test/cli/yes.test.ts has these, and the commands of devices.
  const names = asking.map(([, path]) => path.join(" "));
  expect(names).toEqual([
    ...["release", "retract", "rollback", "cut"],
    ...["channel promote", "channel halt", "channel resume", "reinstate"],
  ]);
  for (const [command] of asking) expect(command.options.map(({ long }) => long)).toContain("--yes");
});

test.each(["exit-codes", "environment", "configuration", "json"])(
  "relcat help %s explains it",
  async (topic) => {
    const { exitCode, stdout, stderr } = await relcat(repository, ["help", topic]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").length).toBeGreaterThan(5);
    const document = JSON.parse((await relcat(repository, ["--json", "help", topic])).stdout);
    expect(document).toMatchObject({ schema_version: 1, topic });
    expect((await relcat(repository, ["--help"])).stdout).toContain(topic);
  },
);

test("relcat help exit-codes names every command, and help configuration every key", async () => {
  const { commands } = JSON.parse((await relcat(repository, ["help", "exit-codes", "--json"])).stdout);
  expect(commands.map(({ command }: { command: string }) => command)).toEqual(
    leaves.map((path) => path.join(" ")),
  );
  const { keys } = JSON.parse((await relcat(repository, ["help", "configuration", "--json"])).stdout);
  const sections = Object.entries(configSchema.shape);
  const known = sections.flatMap(([name, schema]) => keysOf(name, schema, false));
  expect(keys.map(({ key }: { key: string }) => key)).toEqual(known.map(({ path }) => path));
  const { stdout } = await relcat(repository, ["help", "configuration"]);
  for (const { key, purpose } of keys) {
    expect(purpose, key).toMatch(/\w/);
    expect(stdout).toContain(`\n  ${key} `);
  }
  for (const type of Object.keys(defaultPackageTypes)) expect(stdout).toContain(`\n  ${type} `);
});

test("relcat help environment names every variable that relcat reads", () => {
  const named = variables.map(([name, purpose]) => `${name} ${purpose}`).join(" ");
  const sources = globSync("{cli,controller,inspect,pipeline,service,shared}/**/*.ts", { cwd: repository })
    .map(read)
    .join("\n");
  const used = new Set([
    ...[...sources.matchAll(/\b(?:env|environment)\.([A-Z][A-Z0-9_]+)/g)].map(([, name = ""]) => name),
    ...[...sources.matchAll(/\bRELCAT_[A-Z_]+/g)].map(([name]) => name),
  ]);
  // Set by forges, and described where workflows are.
  const ofForges = /^(GITLAB_|GITHUB_(ACTOR|WORKSPACE)|CI_)/;
  expect([...used].filter((name) => !named.includes(name) && !ofForges.test(name))).toEqual([]);
});

test("no word of another tool is a command, and each hint names commands that exist", () => {
  const program = commandTable();
  const names = [...program.commands.map((command) => command.name()), "help"];
  expect([...pointers.keys()].filter((word) => names.includes(word))).toEqual([]);
  const pointed = [...pointers.values()].flatMap((hint) =>
    [...hint.matchAll(/\brelcat (?!with\b)([a-z]+)/g)].map(([, name = ""]) => name),
  );
  expect(pointed.filter((name) => !names.includes(name))).toEqual([]);
});

test.each([
  ["yank", "relcat retract"],
  ["delete", "relcat retract"],
  ["remove", "relcat retract"],
  ["unpublish", "relcat rollback"],
  ["lint", "relcat check"],
  ["doctor", "relcat check"],
  ["diff", "relcat plan"],
  ["deploy", "relcat release"],
  ["ship", "relcat release"],
  ["upgrade", "npm"],
  ["config", "relcat help configuration"],
  ["show", "relcat list"],
  ["ls", "relcat list"],
  ["man", "relcat --help"],
])("relcat %s points at %s", async (word, command) => {
  const { exitCode, stderr } = await relcat(repository, [word]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(command)]);
});

test("relcat.1 is the page of the current table (npm run man writes it)", () => {
  expect(read("man/relcat.1")).toBe(currentManPage());
});

const hasMandoc =
  (await execa("mandoc", ["-T", "lint", "-W", "stop"], { reject: false, input: "" })).code !== "ENOENT";

test.skipIf(!hasMandoc)("mandoc formats relcat.1 without an error", async () => {
  const page = join(repository, "man/relcat.1");
  const lint = await execa("mandoc", ["-T", "lint", "-W", "error", page], { reject: false });
  expect([lint.exitCode, lint.stdout]).toEqual([0, ""]);
  const { stdout } = await execa("mandoc", ["-T", "utf8", page]);
  // Bold letters are printed twice in a terminal.
  const text = stdout.replaceAll(new RegExp(`.${String.fromCharCode(8)}`, "g"), "");
  for (const path of leaves) expect(text).toContain(`relcat ${path.join(" ")}`);
});
