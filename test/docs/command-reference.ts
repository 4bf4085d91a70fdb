import { type CommandUnknownOpts, Help, type Option } from "@commander-js/extra-typings";
import { commandTable } from "../cli/table.ts";

/** The table of commands; nothing runs. */
export const program = commandTable();

/** A command, with the words that call it. */
export interface NamedCommand {
  words: string;
  command: CommandUnknownOpts;
}

/** The commands that can be run, without those that only group others. */
export function* runnable(parent: CommandUnknownOpts = program, words = "relcat"): Generator<NamedCommand> {
  for (const command of parent.createHelp().visibleCommands(parent)) {
    if (command.name() === "help") continue;
    const named = { words: `${words} ${command.name()}`, command };
    if (command.commands.length === 0) yield named;
    else yield* runnable(command, named.words);
  }
}

const cell = (text: string) => text.replaceAll("|", "\\|");

const table = (head: string, rows: readonly string[]) =>
  rows.length === 0 ? "" : `\n| ${head} | meaning |\n|---|---|\n${rows.join("\n")}\n`;

function optionRow(option: Option): string {
  const about = program
    .createHelp()
    .optionDescription(option)
    .replace(/ \(required\)$/, "; required");
  return `| \`${cell(option.flags)}\` | ${cell(sentence(about))} |`;
}

const sentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;

/** Text that help shows below the options: the example, and what the command adds. */
function helpBelow(command: CommandUnknownOpts): string[] {
  let text = "";
  command.configureOutput({ writeOut: (written) => (text += written) });
  command.outputHelp();
  const below = text.slice(text.indexOf("\nExample:") + 1);
  return below.split("\n").map((line) => line.trim());
}

/** The section of a command in docs/commands.md. */
export function commandSection({ words, command }: NamedCommand): string {
  const help = new Help();
  const rows = help.visibleArguments(command).map((argument) => {
    const shown = argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
    return `| \`${shown}\` | ${cell(sentence(help.argumentDescription(argument)))} |`;
  });
  const options = help.visibleOptions(command).filter(({ long }) => long !== "--help");
  const [, line = "", ...more] = helpBelow(command);
  const rest = more.filter((text) => text !== "");
  return `### ${words}
${command.description()}

\`\`\`
${command.createHelp().commandUsage(command)}
\`\`\`
${table("argument", rows)}${table("option", options.map(optionRow))}
Example: \`${line}\`
${rest.map((text) => `\n${text}\n`).join("")}`;
}
