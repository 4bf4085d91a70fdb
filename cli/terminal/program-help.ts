import { type CommandUnknownOpts, Help, Option } from "@commander-js/extra-typings";
import { exitStatuses } from "./exit-codes.ts";
import { topicNames } from "./topic-names.ts";

/** The commands of each release, in the order of their use. */
const frequent = ["new", "ingest", "upload", "release", "status", "retract", "rollback"];

/** @param isWhole describe all commands, options and exit statuses; otherwise only the frequent ones */
export function addProgramHelp(program: CommandUnknownOpts, isWhole: boolean): void {
  const visible = new Help().visibleCommands(program);
  const first = frequent.flatMap((name) => visible.filter((command) => command.name() === name));
  const others = visible.filter((command) => !first.includes(command));
  for (const command of first) command.helpGroup("Each release:");
  const whole: Partial<Help> = {
    ...program.configureHelp(),
    visibleCommands: () => [...first, ...others],
    groupItems: (_, shown, groupOf) => Map.groupBy(shown, groupOf),
  };
  if (isWhole) return void program.configureHelp(whole).addHelpText("after", exitStatuses);
  const short = { visibleCommands: { value: () => first }, visibleOptions: { value: () => [] } };
  const formatHelp = (command: CommandUnknownOpts, helper: Help) =>
    Help.prototype.formatHelp.call(helper, command, Object.create(helper, short));
  const groups = [...Map.groupBy(others, (command) => command.helpGroup())].map(
    ([group, members]) => `  ${group.padEnd(20)}${members.map((command) => command.name()).join(", ")}`,
  );
  program.configureHelp({ ...whole, formatHelp }).addHelpText(
    "after",
    `
More commands:
${groups.join("\n")}

Options: ${new Help()
      .visibleOptions(program)
      .map(({ flags }) => flags)
      .join(" | ")}

relcat help COMMAND describes one command; relcat help --all describes all commands, options and exit statuses.
relcat help TOPIC explains a topic: ${topicNames.join(", ")}.`,
  );
}

/** A required option whose absence the command itself reports, because it knows which values are allowed. */
export class ReportedOption<Usage extends string> extends Option<Usage> {}

const isRequired = (option: Option): boolean => option.mandatory || option instanceof ReportedOption;

/** Marks an option that is required. @param description of the option */
export const marked = (option: Option, description: string): string =>
  isRequired(option) ? `${description} (required)` : description;

/** Help that names required options in the line of usage, and marks them in the list. */
export const helpOfRequired = {
  optionDescription: (option: Option): string => marked(option, new Help().optionDescription(option)),
  commandUsage(command: CommandUnknownOpts): string {
    const required = command.options.filter(isRequired).map(({ flags }) => `${flags} `);
    return new Help().commandUsage(command).replace("[options]", `${required.join("")}[options]`);
  },
};
