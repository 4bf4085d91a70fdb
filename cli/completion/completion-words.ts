import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Values } from "./complete.ts";

export interface OptionWords {
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
export interface CommandWords {
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
