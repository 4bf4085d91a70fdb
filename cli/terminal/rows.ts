import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Host } from "./host.ts";

/** Options that stand before or after any command. */
export interface Globals {
  C?: string;
  json?: true;
  quiet?: true;
  color: boolean;
}

/** Runs a verb in the surroundings the global options ask for; `json` as if --json stood there. */
export type Run = (verb: (host: Host) => Promise<number>, json?: boolean) => Promise<void>;

export const example = (line: string) => `\nExample:\n  ${line}`;

/** A command of the table. */
export const row = (parent: CommandUnknownOpts, name: string, description: string, line: string) =>
  parent.command(name).description(description).addHelpText("after", example(line));

export const yes = ["-y, --yes", "do not ask for confirmation"] as const;

/** Of the commands that refuse a ledger which lost lines. */
export const noBase = ["--no-base", "do not compare the ledger with the one in git"] as const;
