import type { YAMLError } from "yaml";
import type { Words } from "../../shared/json.ts";
import { SyntaxProblem } from "../../shared/source.ts";

export interface Fault {
  code: YAMLError["code"];
  offset: number;
  message: string;
}

const quoteIt = (what: string) => `write ${what} in quotes.`;
const sameColumn = "Keys of one object start in the same column, and so do the items of one list.";
const indentation: Words = ["the indentation does not fit the lines above", sameColumn];
const noKey: Words = ['the line is not "key: value"', "Write a colon and a space after each key."];

export const noTags = [
  "tags (!) are not supported",
  "Write the plain value; quote text that starts with !.",
] as const;

/** Describes the first error in terms that authors of the file understand. */
export function syntaxProblem(faults: readonly Fault[], text: string): SyntaxProblem {
  const conflict = /^<{7}(?: |$)/m.exec(text);
  if (conflict) {
    const hint = "Keep one of its two sides, and remove the lines with <<<<<<<, ======= and >>>>>>>.";
    return new SyntaxProblem("yaml-syntax", conflict.index, "a merge conflict is not resolved", hint);
  }
  const sorted = [...faults].sort((a, b) => a.offset - b.offset);
  const [{ offset } = { offset: 0 }] = sorted;
  const [message, hint, at = offset] = wordsOf(
    sorted.filter((fault) => fault.offset === offset),
    text,
  );
  const isOwn = message === noTags[0] || message === "a tab is used as indentation";
  return new SyntaxProblem("yaml-syntax", at, isOwn ? message : `not valid YAML: ${message}`, hint);
}

/** @param faults errors at one location, which explain more together */
function wordsOf(faults: readonly Fault[], text: string): Words {
  const has = (code: Fault["code"]) => faults.some((fault) => fault.code === code);
  const messages = faults.map(({ message }) => message).join("\n");
  const at = faults[0]?.offset ?? 0;
  if (has("TAG_RESOLVE_FAILED")) return noTags;
  if (has("TAB_AS_INDENT")) return ["a tab is used as indentation", "Indent with spaces."];
  if (/^Missing closing/m.test(messages)) return openQuote(messages, text, at);
  if (/^Flow (?:sequence|map)/m.test(messages))
    return openBracket(/^Flow sequence/m.test(messages), text, at);
  if (/block-seq-ind|without - indicator/.test(messages)) return listItem(text, at);
  if (has("BAD_INDENT")) return firstLine(text, at) ?? indentation;
  if (has("BLOCK_AS_IMPLICIT_KEY")) return nested(has("MULTILINE_IMPLICIT_KEY"), messages);
  if (has("MULTILINE_IMPLICIT_KEY") || has("MISSING_CHAR")) return missingColon(text, at);
  if (has("BAD_SCALAR_START") || has("BAD_ALIAS")) return specialStart(text, at);
  if (has("BLOCK_IN_FLOW"))
    return [
      "a colon where a comma is expected",
      `Separate the parts of a list or object by commas; ${quoteIt('text that contains ": "')}`,
    ];
  if (has("BAD_DQ_ESCAPE"))
    return [
      `an unknown escape ${text.slice(at, at + 2)}`,
      "In double quotes a backslash is written \\\\; in single quotes it is one.",
    ];
  if (has("BAD_DIRECTIVE"))
    return ["a line starts with %", `Remove it; ${quoteIt("text that starts with %")}`];
  return unexpected(messages, text, at);
}

/** An unclosed quote is the last one of its kind. */
function openQuote(messages: string, text: string, end: number): Words {
  const quote = messages.includes("'") ? "'" : '"';
  return [
    "text without its closing quote",
    `Close it with ${quote}, or use the other kind of quotes where ${quote} is part of the text.`,
    Math.max(0, text.lastIndexOf(quote, end)),
  ];
}

const openBracket = (isList: boolean, text: string, end: number): Words => [
  isList ? "a list without its closing ]" : "an object without its closing }",
  "Close it. If it continues over several lines, indent them deeper than its key.",
  opening(isList ? "[]" : "{}", text, end),
];

/** The last bracket before `end` that nothing closes; the library reports only where it gave up. */
function opening([open, close]: string, text: string, end: number): number {
  let closed = 0;
  for (let at = end - 1; at >= 0; at--) {
    if (text[at] === close) closed++;
    if (text[at] === open && --closed < 0) return at;
  }
  return end;
}

/** A first line that is indented makes every later line wrong. */
function firstLine(text: string, at: number): Words | undefined {
  const [indented] = /^(?:[ \t]*(?:#.*)?\r?\n)* +(?=[^\s#])/.exec(text) ?? [];
  if (indented === undefined || (text[at - 1] ?? "\n") !== "\n") return undefined;
  return ["the first key is indented, and later keys are not", sameColumn, indented.length];
}

function listItem(text: string, at: number): Words {
  const before = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  if (before.trim() === "" || text[at] !== "-") return indentation;
  return [
    "a list item on the line of its key",
    `Start the list on the next line; ${quoteIt("text that starts with a dash")}`,
  ];
}

function nested(isOverLines: boolean, messages: string): Words {
  if (/block sequence/.test(messages)) return indentation;
  if (isOverLines) return ["a value is followed by a line that is indented deeper", sameColumn];
  return ["a second colon in one value", 'Write text that contains ": " in quotes.'];
}

function missingColon(text: string, at: number): Words {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1).split("\n", 1)[0] ?? "";
  if (/^\s*- /.test(line)) return ["a list item where a key is expected", sameColumn];
  return /^\s*[\w-]+:\S/.test(line) ? [noKey[0], "Write a space after the colon."] : noKey;
}

const specialStart = (text: string, at: number): Words => {
  const start = text[at] === "*" || text[at - 1] !== "*" ? text[at] : "*";
  return [`text starts with ${start}`, "Write text that starts with a special character in quotes."];
};

function unexpected(messages: string, text: string, at: number): Words {
  const bracket = /token in YAML \w+: "([\]}])"/.exec(messages)?.[1];
  if (bracket !== undefined)
    return [`a ${bracket} that closes nothing`, "Remove it, or quote the text it is part of."];
  if (/Unexpected , in/.test(messages)) return ["a comma with nothing before it", "Remove it."];
  if (/Block scalar header|Not a YAML token/.test(messages))
    return [
      "text on the line of > or |",
      `Text after them starts on the next line; ${quoteIt("text that begins with them")}`,
    ];
  if (!/at node end/.test(messages))
    return [
      "the syntax is not valid here",
      "Check that each key has its colon, and that each bracket and quote is closed.",
    ];
  if (/["']\s*$/.test(text.slice(0, at)))
    return ["text continues after its closing quote", "Quote all of it; in single quotes, ' is written ''."];
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /[:-]\s+\*/.test(line) ? specialStart("*", 0) : (firstLine(text, at) ?? indentation);
}
