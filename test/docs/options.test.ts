import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { expect, test } from "vitest";
import { createProgram } from "../../cli/commands.ts";
import { repository } from "../support/run.ts";

const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: repository })]
  .filter((path) => !path.startsWith("docs/decisions/"))
  .map((path) => readFileSync(join(repository, path), "utf8"));

/** True for `--out`, not for `--out-of` alone. */
const names = (text: string, word: string) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text);

const silent = { write: () => true, columns: 80, isTerminal: false };
const program = createProgram(
  { version: "0.0.0" } as Parameters<typeof createProgram>[0],
  { data: silent, messages: silent } as unknown as Parameters<typeof createProgram>[1],
  async () => {},
);

/** The options of a command and of those below it, with the words that call it. */
function* optionsOf(
  command: CommandUnknownOpts,
  words: string[],
): Generator<[command: string, option: string]> {
  for (const { hidden, long, short } of command.options) {
    if (!hidden) yield [words.join(" "), long ?? short ?? ""];
  }
  for (const below of command.commands) yield* optionsOf(below, [...words, below.name()]);
}

const options = [...optionsOf(program, [])];

test("the command table has its options", () => {
  expect(options.length).toBeGreaterThan(150);
  expect(options).toContainEqual(["controller keys create", "--days"]);
});

test("a page about a command names each of its options", () => {
  const undocumented = options.filter(([command, option]) => {
    const [group = ""] = command.split(" ");
    return !pages.some((text) => names(text, group) && names(text, option));
  });
  expect(undocumented).toEqual([]);
});
