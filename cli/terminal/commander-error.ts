import type { CommanderError } from "@commander-js/extra-typings";
import { distance } from "fastest-levenshtein";
import { pointerFor } from "./pointers.ts";
import { UsageError } from "./usage.ts";

/** Replacements for messages of commander; each may contain a hint. */
const wordings: readonly [RegExp, (...groups: string[]) => string][] = [
  [
    /^command-argument value '(?<value>.*)' is invalid for argument '(?<what>.*)'\. (?<hint>.*)$/s,
    (value, what) => `${JSON.stringify(value)} is not a valid ${what}`,
  ],
  [
    /^option '(?:-\w, )?(?<what>.*)' argument '(?<value>.*)' is invalid\. (?<hint>.*)$/s,
    (what, value) => `${JSON.stringify(value)} is not valid for ${what}`,
  ],
  [/^required option '(?:-\w, )?(.*)' not specified$/, (what) => `the option ${what} is missing`],
  [/^missing required argument '(.*)'$/, (what) => `the argument ${what} is missing`],
  [/^option '(?:-\w, )?(.*)' argument missing$/, (what) => `the option ${what} needs a value`],
];

/**
 * Words commander's error like other problems.
 * @param command recognized so far, such as "relcat notes add"
 */
export function usageErrorOf({ message }: CommanderError, command: string): UsageError {
  const [sentence = "", suggestion] = message.replace(/^error: /, "").split(/\n(?=\(Did you mean)/);
  const howToUse = `${command} --help shows how it is used.`;
  const fallback = suggestion?.replace(/^\((.*)\)$/, "$1") ?? howToUse;
  for (const [pattern, wording] of wordings) {
    const match = pattern.exec(sentence);
    if (match) return new UsageError(wording(...match.slice(1)), match.groups?.hint ?? fallback);
  }
  const [, unknown] = /^unknown command '(.*)'$/.exec(sentence) ?? [];
  if (unknown === undefined) return new UsageError(sentence, fallback);
  const [, near] = /^Did you mean (\S+)\?$/.exec(fallback) ?? [];
  const hint = near === undefined || isClose(unknown, near) ? fallback : howToUse;
  return new UsageError(sentence, (command === "relcat" && pointerFor(unknown)) || hint);
}

/** A short word allows few wrong letters, but they may be in another order. */
function isClose(word: string, name: string): boolean {
  const letters = (text: string) => [...text].sort().join("");
  return distance(word, name) <= (word.length <= 4 ? 1 : 2) || letters(word) === letters(name);
}
