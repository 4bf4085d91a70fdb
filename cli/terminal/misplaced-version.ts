import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { UsageError } from "./usage.ts";
import { shellWord } from "./words.ts";

const isFlag = (word: string) => word === "--version" || word === "-V" || word.startsWith("--version=");

const releaseArgument = /version|^month$|^which$/;

/**
 * Rejects `--version` next to other words, because it would print relcat's version and exit with 0.
 * @param words the command line after the program's name, more than one word; those after `--` are values
 * @throws UsageError with the right form of the command
 */
export function refuseMisplacedVersion(program: CommandUnknownOpts, words: readonly string[]): void {
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  const position = words.slice(0, end).findIndex(isFlag);
  if (position < 0) return;
  const command = commandOf(program, words.slice(0, end));
  const form = rightForm(command, words, position);
  throw new UsageError(
    "--version prints the version of relcat, and takes no other words",
    form === undefined
      ? "relcat --version prints it."
      : `did you mean: relcat ${form.map(shellWord).join(" ")}`,
  );
}

function commandOf(program: CommandUnknownOpts, words: readonly string[]): CommandUnknownOpts {
  let command = program;
  for (const word of words) command = command.commands.find((each) => each.name() === word) ?? command;
  return command;
}

/** The corrected command line; undefined if the command takes no version. */
function rightForm(command: CommandUnknownOpts, words: readonly string[], at: number): string[] | undefined {
  const [before, flag = "", after] = [words.slice(0, at), words[at], words.slice(at + 1)];
  const [first, ...rest] = flag.startsWith("--version=") ? [flag.slice(10), ...after] : after;
  if (first === undefined || first.startsWith("-")) return undefined;
  if (command.registeredArguments.some((argument) => releaseArgument.test(argument.name())))
    return [...before, first, ...rest];
  if (command.options.some((option) => option.long === "--release"))
    return [...before, "--release", first, ...rest];
  if (command.name() === "list") return [...before, `version=${first}`, ...rest];
  return undefined;
}
