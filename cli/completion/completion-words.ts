import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Values } from "./complete.ts";

/** An option as a shell completes it. */
export interface OptionWords {
  /** As they are typed, the long one first. */
  flags: readonly string[];
  description: string;
  takesValue: boolean;
  /** Its values, where they are a closed list. */
  choices: readonly string[];
  /** Its values, where the project knows them. */
  values: Values | undefined;
}

/** A command and the words that may follow it. */
export interface CommandWords {
  /** [] for the program itself, ["notes", "show"] for a command of a command. */
  path: readonly string[];
  subcommands: { name: string; description: string }[];
  options: OptionWords[];
  /** Values of its arguments, where they are a closed list. */
  choices: readonly string[];
  /** Values of its arguments, where the project knows them. */
  values: Values | undefined;
}

/** What the placeholders of arguments and options stand for. */
const known: Readonly<Record<string, Values>> = {
  version: "versions",
  "id-or-version": "cut-versions",
  "package-type": "package-types",
};

const placeholder = (flags: string) => /[<[]([\w-]+)/.exec(flags)?.[1] ?? "";

/** Every command with what may follow it, the program itself first. */
export function commandWords(
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
      values: known[placeholder(option.flags)],
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
    values: command.name() === "schema" ? "schemas" : argument && known[argument.name()],
  };
  const globals = path.length === 0 ? options.filter(({ flags }) => flags[0] !== "--version") : inherited;
  return [
    words,
    ...subcommands.flatMap((each) =>
      each.name() === "help" ? [] : commandWords(each, [...path, each.name()], globals),
    ),
  ];
}
