import { quoted } from "./completion-cases.ts";
import type { CommandWords, OptionWords } from "./completion-words.ts";

const helper = `function __relcat_values --description "words that depend on the project"
    set -l words (commandline -opc)
    set -l folder .
    if set -l at (contains -i -- -C $words)
        set folder (string replace -r '^~' $HOME -- $words[(math $at + 1)])
    end
    relcat -C $folder __complete $argv[1] -- $words[2..] 2>/dev/null
end`;

export function fishScript(commands: readonly CommandWords[]): string {
  const head =
    "# relcat's commands, options, versions and package types. Load with: relcat completion fish | source";
  const lines = [head, helper, "complete -c relcat -f"];
  const [program] = commands;
  const globals = new Set((program?.options ?? []).map(({ flags }) => flags[0]));
  for (const command of commands) {
    const { path, subcommands, options, choices, values } = command;
    const here = `complete -c relcat -n ${quoted(condition(command))}`;
    for (const { name, description } of subcommands)
      lines.push(`${here} -f -a ${name} -d ${quoted(description)}`);
    if (choices.length > 0) lines.push(`${here} -f -a ${quoted(choices.join(" "))}`);
    if (values) lines.push(`${here} -f -k -a ${quoted(`(__relcat_values ${values})`)}`);
    if (subcommands.length + choices.length === 0 && !values) lines.push(`${here} -F`);
    for (const option of options) {
      const isGlobal = globals.has(option.flags[0]);
      if (isGlobal && path.length > 0) continue;
      lines.push(`${isGlobal ? "complete -c relcat" : here} ${optionOf(option)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** fish's own __fish_use_subcommand mistakes the folder after -C for a command. */
function condition({ path, subcommands }: CommandWords): string {
  const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`);
  const names = subcommands.map(({ name }) => name);
  const unseen = names.length > 0 ? [`not __fish_seen_subcommand_from ${names.join(" ")}`] : [];
  return [...seen, ...unseen].join("; and ");
}

function optionOf({ flags, description, takesValue, choices, values }: OptionWords): string {
  const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const words = values
    ? `-x -k -a ${quoted(`(__relcat_values ${values})`)}`
    : `-x -a ${quoted(choices.join(" "))}`;
  const value = values || choices.length > 0 ? [words] : takesValue ? ["-r -F"] : [];
  return [...names, ...value, `-d ${quoted(description)}`].join(" ");
}
