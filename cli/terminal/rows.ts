import { type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { asSampleSize } from "./arguments.ts";
import type { Host } from "./host.ts";

/** Options that may come before or after any command. */
export interface Globals {
  C?: string;
  json?: true;
  quiet?: true;
  verbose?: true;
  color: boolean;
}

/** Does what a command is for. @returns its exit status; nothing: 0 */
export type Verb = (host: Host) => Promise<number> | Promise<void>;

/** Runs a command with the global options; `json` as if --json was given. */
export type Run = (verb: Verb, json?: boolean) => Promise<void>;

export const example = (line: string) => `\nExample:\n  ${line}`;

export const row = (parent: CommandUnknownOpts, name: string, description: string, line: string) =>
  parent.command(name).description(description).addHelpText("after", example(line));

export const siteOption = (about: string) => new Option("--site <name>", about).env("RELCAT_SITE");

export const formatOption = <const T extends readonly string[]>(choices: T) =>
  new Option("--format <format>", "how to print").choices(choices).default("text" as T[number]);

export const siteArgument = [
  "[site]",
  "name of the site in catalog.yaml; default: $RELCAT_SITE, or the only site",
] as const;

export const dryRun = ["-n, --dry-run", "show what would be done, and write nothing"] as const;

export const jobs = [
  "--jobs <number>",
  "files to read at the same time; default: one for each core",
  asSampleSize,
] as const;

export const yes = ["-y, --yes", "do not ask for confirmation"] as const;

/** Option of commands that refuse a ledger if it lost lines. */
export const noBase = ["--no-base", "do not compare the ledger with the one in git"] as const;
