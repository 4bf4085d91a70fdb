import { join } from "node:path";
import { shellWord } from "./words.ts";

/** Options of the running command that the next command needs too. */
export interface Given {
  /** Value of -C. */
  folder?: string | undefined;
  /** The site that was built, signed or published, and its output folder. */
  site?: string | undefined;
  out?: string | undefined;
}

/** Options of commands that work on a built site; `publish` takes the site as its argument. */
const repeated: Readonly<Record<string, readonly ("site" | "out")[]>> = {
  build: ["site", "out"],
  sign: ["site", "out"],
  publish: ["out"],
  release: ["out"],
};

const verbs =
  "build|channel|check|completion|controller|cut|devices|download|history|import|ingest|init|inspect|ledger|list|login|logout|new|notes|plan|publish|reinstate|release|retract|rollback|schema|serve|sign|status|templates|trust|uncut|upload|verify";

/** A command in a sentence, up to the next part of the sentence. */
const command = new RegExp(`\\brelcat (${verbs})(?![\\w-])((?:(?![,;:)]|\\.(?:\\s|$)|\\brelcat\\b).)*)`, "g");

/** Adds the given options to the commands in hints. All forms of output use this. */
export const problemsAsGiven = <P extends { hint?: string | null }>(
  problems: readonly P[],
  given: Given,
): readonly P[] =>
  problems.map((problem) => (problem.hint ? { ...problem, hint: asGiven(problem.hint, given) } : problem));

/** Adds the options of the running command to commands in a text, so that users can paste them. */
export function asGiven(text: string, given: Given): string {
  const folder = given.folder === undefined ? "" : ` -C ${shellWord(given.folder)}`;
  return text
    .replace(/\brelcat -C (\S+)/g, (whole, inner: string) =>
      given.folder === undefined ? whole : `relcat -C ${shellWord(join(given.folder, inner))}`,
    )
    .replace(command, (_, verb: string, rest: string) => {
      const options = (repeated[verb] ?? []).flatMap((name) => {
        const value = given[name];
        return value === undefined || rest.includes(`--${name} `) ? [] : [` --${name} ${shellWord(value)}`];
      });
      // The argument of `init` already names the new project's folder, so -C is not repeated.
      return `relcat${verb === "init" ? "" : folder} ${verb}${options.join("")}${rest}`;
    });
}
