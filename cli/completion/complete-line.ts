import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { exitStatus } from "../../shared/errors.ts";
import { type Host, print } from "../terminal/host.ts";
import { complete } from "./complete.ts";
import { type CommandWords, commandWords } from "./completion-words.ts";

/**
 * `relcat __words`, which the scripts of all shells call: prints every suggestion for the end of a command line, as
 * a word, a tab and a description.
 * @param state "begun": the last of the words is to be completed; "next": a new one
 * @returns 9 if only listed words are possible, so that a shell offers no files
 */
export async function completeLine(
  state: string,
  words: readonly string[],
  program: CommandUnknownOpts,
  host: Host,
): Promise<number> {
  const current = state === "begun" ? (words.at(-1) ?? "") : "";
  const before = state === "begun" ? words.slice(0, -1) : words;
  const offer = (value: string, about: string) => {
    if (value.startsWith(current)) print(host, `${value}\t${about}`);
  };
  const commands = commandWords(program);
  const command = commandOf(before, commands);
  const option = command?.options.find(
    ({ flags, takesValue }) => takesValue && flags.includes(before.at(-1) ?? ""),
  );
  if (!command || option?.flags.includes("-C")) return exitStatus.done;
  if (!option && current.startsWith("-")) {
    for (const { flags, description } of command.options) for (const flag of flags) offer(flag, description);
    return exitStatus.declined;
  }
  const { choices, values } = option ?? command;
  const subcommands = option ? [] : command.subcommands;
  for (const { name, description } of subcommands) offer(name, description);
  for (const choice of choices) offer(choice, "");
  if (values) {
    const found = await complete(values, [...before, current], host);
    for (const { value, about } of found) offer(value, about);
  }
  return values || choices.length + subcommands.length > 0 ? exitStatus.declined : exitStatus.done;
}

/** The command that the words name so far, without options and their values. */
function commandOf(words: readonly string[], commands: readonly CommandWords[]): CommandWords | undefined {
  let command = commands[0];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    const option = command?.options.find(({ flags }) => flags.includes(word));
    if (option?.takesValue) i++;
    if (word.startsWith("-")) continue;
    const path = [...(command?.path ?? []), word].join(" ");
    command = commands.find((each) => each.path.join(" ") === path) ?? command;
  }
  return command;
}
