import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { type Host, print } from "../terminal/host.ts";
import { complete } from "./complete.ts";
import { type CommandWords, commandWords } from "./completion-words.ts";

/**
 * `relcat __words`, for shells whose script knows no words: prints every suggestion for the end of a command line, as
 * a word, a tab and a description.
 * @param state "begun": the last of the words is to be completed; "next": a new one
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
  if (!command || option?.flags.includes("-C")) return 0;
  if (!option && current.startsWith("-")) {
    for (const { flags, description } of command.options) for (const flag of flags) offer(flag, description);
    return 0;
  }
  const { choices, values } = option ?? command;
  if (!option) for (const { name, description } of command.subcommands) offer(name, description);
  for (const choice of choices) offer(choice, "");
  if (values === undefined) return 0;
  const asked = { write: (text: string) => offering(text, offer), style: (_: unknown, text: string) => text };
  return complete(values, [...before, current], Object.create(host, { data: { value: asked } }));
}

function offering(text: string, offer: (value: string, about: string) => void): void {
  for (const line of text.split("\n").filter((each) => each !== "")) {
    const [value = "", about = ""] = line.split("\t");
    offer(value, about);
  }
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
