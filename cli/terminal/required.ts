import { type CommandUnknownOpts, Help, Option } from "@commander-js/extra-typings";

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
