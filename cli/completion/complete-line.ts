import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { exitStatus } from "../../shared/errors.ts";
import { type Host, print } from "../terminal/host.ts";
import { complete, type Values } from "./complete.ts";

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

interface OptionWords {
  /** As typed, the long form first. */
  flags: readonly string[];
  description: string;
  takesValue: boolean;
  /** Fixed values, if there are any. */
  choices: readonly string[];
  /** Values that depend on the project. */
  values: Values | undefined;
}

/** A command and the words that may follow it. */
interface CommandWords {
  /** [] for the program itself, ["notes", "show"] for a subcommand. */
  path: readonly string[];
  subcommands: { name: string; description: string }[];
  options: OptionWords[];
  /** Fixed values of its arguments. */
  choices: readonly string[];
  /** Values of its arguments that depend on the project. */
  values: Values | undefined;
}

/** Project values by argument name. */
const ofArgument: Readonly<Record<string, Values>> = {
  version: "versions",
  "id-or-version": "retractable",
  id: "retracted-ids",
  site: "sites",
  which: "downloads",
  filter: "filters",
};

/** Commands that accept only some versions. */
const ofCommand: Readonly<Record<string, Values>> = {
  cut: "open-versions",
  uncut: "cut-versions",
  schema: "schemas",
};

/** Values from the project that an option suggests; for other options, the placeholder decides. */
const ofOption: Readonly<Record<string, Values>> = {
  "--site": "sites",
  "--component": "components",
  "--kind": "kinds",
  "--replaced-by": "live-ids",
};
const ofPlaceholder: Readonly<Record<string, Values>> = {
  version: "versions",
  "package-type": "package-types",
};

const placeholder = (flags: string) => /[<[]([\w-]+)/.exec(flags)?.[1] ?? "";

/** All commands, the program itself first. */
function commandWords(
  command: CommandUnknownOpts,
  path: readonly string[] = [],
  inherited: readonly OptionWords[] = [],
): CommandWords[] {
  const help = command.createHelp();
  const own = help.visibleOptions(command).map(
    (option): OptionWords => ({
      flags: [option.long, option.short].filter((flag) => flag !== undefined && flag !== null),
      description: option.description,
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
      values: ofOption[option.long ?? ""] ?? ofPlaceholder[placeholder(option.flags)],
    }),
  );
  const isOwn = ({ flags }: OptionWords) => own.some((option) => option.flags[0] === flags[0]);
  const options = [...own, ...inherited.filter((option) => !isOwn(option))];
  const subcommands = help.visibleCommands(command);
  const [argument] = command.registeredArguments;
  const words: CommandWords = {
    path,
    subcommands: subcommands.map((each) => ({ name: each.name(), description: each.description() })),
    options,
    choices: command.registeredArguments.flatMap((each) => each.argChoices ?? []),
    values: ofCommand[command.name()] ?? (argument && ofArgument[argument.name()]),
  };
  const globals = path.length === 0 ? options.filter(({ flags }) => flags[0] !== "--version") : inherited;
  return [
    words,
    ...subcommands.flatMap((each) =>
      each.name() === "help" ? [] : commandWords(each, [...path, each.name()], globals),
    ),
  ];
}
