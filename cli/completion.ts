import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { bashScript, type CommandWords, fishScript, zshScript } from "./completion-scripts.ts";
import { answer, type Host } from "./host.ts";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `relcat completion`: what the table of commands knows, as a shell reads it. Ids are not completed. */
export async function completion(
  shell: keyof typeof scripts,
  program: CommandUnknownOpts,
  host: Host,
): Promise<number> {
  const script = scripts[shell](commandWords(program));
  if (host.json) answer(host, { shell, script }, () => "");
  else host.data.write(script);
  return 0;
}

/** Every command with what may follow it, the program itself first. */
function commandWords(
  command: CommandUnknownOpts,
  path: readonly string[] = [],
  inherited: CommandWords["options"] = [],
): CommandWords[] {
  const help = command.createHelp();
  const own = help.visibleOptions(command).map((option) => ({
    short: option.short?.slice(1),
    long: option.long?.slice(2),
    description: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  }));
  const options = [
    ...own,
    ...inherited.filter((option) => !own.some(({ long }) => long !== undefined && long === option.long)),
  ];
  const subcommands = help.visibleCommands(command);
  const words: CommandWords = {
    path,
    subcommands: subcommands.map((each) => ({ name: each.name(), description: each.description() })),
    options,
    choices: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
  };
  const globals = path.length === 0 ? options.filter(({ long }) => long !== "version") : inherited;
  return [
    words,
    ...subcommands.flatMap((each) =>
      each.name() === "help" ? [] : commandWords(each, [...path, each.name()], globals),
    ),
  ];
}
