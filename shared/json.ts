import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { duplicateKey, maxDepth, type Syntax, SyntaxProblem, tooDeep } from "./source.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * JSON (RFC 8259) with unique keys. A scan outside strings counts colons and depth; fewer members than colons
 * mean a duplicate key. Only then the slow parser with locations is used.
 * @throws SyntaxProblem json-syntax, duplicate-key, nesting-depth
 */
export function parseJson(text: string): Syntax {
  const { colons, escapedKey } = scan(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw syntaxProblem(text);
  }
  // JSON.parse of Node 24 and 26 can mistake a key with an escape for another (nodejs/node#63785).
  const doubtful = escapedKey || countMembers(value) !== colons;
  const root = doubtful ? parseTree(text) : undefined;
  const repeated = findDuplicate(root);
  if (repeated) {
    const { first, second } = repeated;
    throw duplicateKey(second.value, text, first.offset, second.offset);
  }
  let locate: Syntax["locate"] | undefined;
  return {
    value: doubtful ? plainValue(root) : value,
    locate(path, part) {
      locate ??= locatorIn(root ?? parseTree(text));
      return locate(path, part);
    },
    spelling: () => undefined,
  };
}

/** Counts colons outside strings, and rejects deep nesting before a recursive parser runs. */
function scan(text: string): { colons: number; escapedKey: boolean } {
  let colons = 0;
  let depth = 0;
  let slash = text.indexOf("\\");
  let lastEscaped = false;
  let escapedKey = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      if (slash !== -1 && slash < i) slash = text.indexOf("\\", i);
      i = endOfString(text, i);
      lastEscaped = slash !== -1 && slash < i;
    } else if (c === COLON) {
      colons++;
      escapedKey ||= lastEscaped;
    } else if (c === 0x7b || c === 0x5b) {
      if (++depth > maxDepth) throw tooDeep(i);
    } else if (c === 0x7d || c === 0x5d) depth--;
  }
  return { colons, escapedKey };
}

/** Index of a string's closing quote, or of the text's end. */
function endOfString(text: string, open: number): number {
  for (let end = text.indexOf('"', open + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

function countMembers(value: unknown): number {
  if (value === null || typeof value !== "object") return 0;
  const items = Object.values(value);
  let count = Array.isArray(value) ? 0 : items.length;
  for (const item of items) count += countMembers(item);
  return count;
}

function findDuplicate(node: Node | undefined): { first: Node; second: Node } | undefined {
  const seen = new Map<string, Node>();
  for (const child of node?.children ?? []) {
    const key = node?.type === "object" ? child.children?.[0] : undefined;
    const first = key && seen.get(key.value);
    if (first) return { first, second: key };
    if (key) seen.set(key.value, key);
    const deeper = findDuplicate(child);
    if (deeper) return deeper;
  }
  return undefined;
}

function plainValue(node: Node | undefined): unknown {
  const children = node?.children ?? [];
  if (node?.type === "array") return children.map(plainValue);
  if (node?.type !== "object") return node?.value;
  return Object.fromEntries(
    children.map(({ children: [key, value] = [] }) => [key?.value, plainValue(value)]),
  );
}

function locatorIn(root: Node | undefined): Syntax["locate"] {
  const members = new WeakMap<Node, Map<unknown, Node>>();
  const membersOf = (object: Node): Map<unknown, Node> => {
    const known =
      members.get(object) ?? new Map(object.children?.map((member) => [member.children?.[0]?.value, member]));
    members.set(object, known);
    return known;
  };
  return (path, part) => {
    let node = root;
    let offset = node?.offset ?? 0;
    for (const [index, step] of path.entries()) {
      const member = node?.type === "object" ? membersOf(node).get(step) : undefined;
      const [key, value] = member?.children ?? [];
      if (key && part === "key" && index === path.length - 1) return key.offset;
      node = node?.type === "array" && typeof step === "number" ? node.children?.[step] : value;
      if (!node) break;
      offset = node.offset;
    }
    return offset;
  };
}

type Code = ReturnType<typeof printParseErrorCode>;
export type Words = readonly [message: string, hint: string, offset?: number];

function syntaxProblem(text: string): SyntaxProblem {
  const conflict = /^<{7}(?: |$)/m.exec(text);
  if (conflict) {
    const hint = "Keep one of its two sides, and remove the lines with <<<<<<<, ======= and >>>>>>>.";
    return new SyntaxProblem("json-syntax", conflict.index, "a merge conflict is not resolved", hint);
  }
  const errors: ParseError[] = [];
  parseTree(text, errors, { disallowComments: true });
  const [first] = errors;
  const offset = first?.offset ?? 0;
  if (text.slice(offset).trim() === "") {
    const message = text.trim() === "" ? "the file is empty, expected JSON" : "the JSON ends too early";
    return new SyntaxProblem("json-syntax", offset, message, "Was it written or copied only in part?");
  }
  const code = first && printParseErrorCode(first.error);
  const words = otherFormat(text, offset) ?? wordsOf(code, text, offset);
  const [message, hint, at = offset] = words;
  return new SyntaxProblem("json-syntax", at, `not valid JSON: ${message}`, hint);
}

/** If the text is not JSON at all, its format explains more than its first character. */
function otherFormat(text: string, offset: number): Words | undefined {
  if (text.slice(0, offset).trim() !== "") return undefined;
  const start = text.slice(offset, offset + 200);
  if (/^<[!?a-z]/i.test(start))
    return ["a page of HTML or XML", "Was a page saved instead, such as one for logging in?"];
  if (/^(?:---|[A-Za-z_][\w-]*:)(?:\s|$)/.test(start))
    return ["it looks like YAML", "Write JSON, or give the file a name that ends in .yaml."];
  if (/^[A-Za-z]\w* ?\S/.test(start) && /[[{]/.test(text.slice(offset)))
    return ["other text comes before it", "Did a program write its messages into the same file?"];
  return undefined;
}

const noComments: Words = ["a comment", "JSON has none: remove it, or write YAML."];
const notJson = "JSON knows numbers, true, false, null and text in double quotes.";
const number: Words = [
  "a number in a form that JSON does not know",
  "Write it in plain digits, such as 4096 or 0.5; write a version or a date in double quotes.",
];

function wordsOf(code: Code | undefined, text: string, offset: number): Words {
  switch (code) {
    case "InvalidSymbol":
      return symbol(text, offset);
    case "InvalidNumberFormat":
    case "UnexpectedEndOfNumber":
      return ["an incomplete number", "Write digits on both sides of its point, and after its e."];
    case "PropertyNameExpected":
      return missingKey(text, offset);
    case "ValueExpected":
      return missingValue(text, offset);
    case "ColonExpected":
      return ["no colon after a key", 'Write a colon between a key and its value: "key": "value".'];
    case "CommaExpected":
      return missingComma(text, offset);
    case "CloseBraceExpected":
      return ["no } where one is expected", "Close the object with }."];
    case "CloseBracketExpected":
      return ["no ] where one is expected", "Close the list with ]."];
    case "EndOfFileExpected":
      return afterTheEnd(text, offset);
    case "InvalidCommentToken":
    case "UnexpectedEndOfComment":
      return noComments;
    case "UnexpectedEndOfString":
      return ["text without its closing quote", "Close it; a line break in text is written \\n."];
    case "InvalidUnicode":
      return ["a \\u without four hexadecimal digits", "For example: \\u00e4; a backslash is written \\\\."];
    case "InvalidEscapeCharacter":
      return unknownEscape(text, offset);
    case "InvalidCharacter":
      return control(text, offset);
    default:
      return ["a mistake", notJson];
  }
}

const near = (text: string, offset: number) => ({
  /** The last character that is not white space. */
  before: text.slice(0, offset).trimEnd().at(-1),
  /** The character right before the error, including white space. */
  touching: text.charAt(offset - 1),
  here: text.charAt(offset),
  rest: text.slice(offset, offset + 80),
});

const signs: readonly (readonly [RegExp, ...Words])[] = [
  [/^'/, "text in single quotes", "Write text in double quotes."],
  [/^[“”„‟‘’‚«»]/, "a typographic quote", 'Write text in plain double quotes: ".'],
  [/^#/, ...noComments],
  [
    /^(?:…|\.\.\.)/,
    "dots where something was left out",
    "Was it copied from shortened output? Write all of it.",
  ],
  [/^;/, "a semicolon", "Write a comma between two values."],
  [/^=/, "an equals sign", "Write a colon between a key and its value."],
  [
    /^[+-]?(?:nan|inf|infinity)\b/i,
    "NaN or Infinity, which JSON does not have",
    "Write null, or remove the key.",
  ],
  [/^(?:undefined|none|nil|null)\b/i, "an unknown word for nothing", "Write null, or remove the key."],
  [/^true\b/i, "true in capital letters", "Write true."],
  [/^false\b/i, "false in capital letters", "Write false."],
  [/^[+.]\d/, ...number],
];

function symbol(text: string, offset: number): Words {
  const { before, touching, rest } = near(text, offset);
  if (/\d/.test(touching) && /^[\w.+-]/.test(rest)) return number;
  const [word] = /^[\w$-]+/.exec(rest) ?? [];
  const isKey = before === "{" || before === ",";
  if (word && isKey && /^\s*[:=]/.test(rest.slice(word.length))) return bareKey(word);
  for (const [pattern, ...words] of signs) if (pattern.test(rest)) return words;
  if (touching === '"')
    return [
      "text continues after its closing quote",
      'Is a quote missing before it? One that belongs to the text is written \\".',
    ];
  return word
    ? [`the word ${word}`, `Write text in double quotes: "${word}".`]
    : ["an unknown sign", notJson];
}

const bareKey = (word: string): Words => ["a key without quotes", `Write it as "${word}".`];

const strayComma = "Commas are only allowed between two values: remove it, or write the value.";
const lastComma = (bracket: string): Words => [
  `a comma before ${bracket}`,
  "Remove it: commas are only allowed between two values.",
];
const brackets = "Brackets close in the order they were opened: a [ with ], a { with }.";

function missingKey(text: string, offset: number): Words {
  const { before, here, rest } = near(text, offset);
  const what = "no key where one is expected";
  if (here === "}" && before === ",") return lastComma(here);
  if (here === ",") return [what, strayComma];
  if (here === "{" && before === "{")
    return [what, "Is it a template whose {{ }} was not filled in? Otherwise write a key before each value."];
  const [bare] = /^-?[\w.]+/.exec(rest) ?? [];
  if (bare) return bareKey(bare);
  return here === "]" ? ["a ] where a } is expected", brackets] : [what, 'A key is text: "key": "value".'];
}

function missingValue(text: string, offset: number): Words {
  const { before, here } = near(text, offset);
  const what = "no value where one is expected";
  if (before === ":") return [what, "Write the value after the colon, or remove the key."];
  if (before === "," && (here === "]" || here === "}")) return lastComma(here);
  if (here === ",") return [what, strayComma];
  if (here === "}" || here === "]") return [`a ${here} that does not fit`, brackets];
  return [what, notJson];
}

function missingComma(text: string, offset: number): Words {
  const { touching, here } = near(text, offset);
  if (/\d/.test(touching) && /[-\d]/.test(here)) return number;
  if (here === "}" || here === "]") return [`a ${here} that does not fit`, brackets];
  return ["no comma between two values", "Write a comma after the value before it."];
}

function afterTheEnd(text: string, offset: number): Words {
  const { here } = near(text, offset);
  if (/[\]},]/.test(here)) return [`a ${here} after the end`, "Remove it, or open what it closes."];
  return ["more text after the value", "One file holds one value."];
}

/** The parser reports the string; this finds the character. */
function unknownEscape(text: string, offset: number): Words {
  let at = offset;
  while (at < text.length && (text[at] !== "\\" || /["\\/bfnrtu]/.test(text.charAt(at + 1))))
    at += text[at] === "\\" ? 2 : 1;
  return ["an unknown escape in text", "A backslash is written \\\\.", at];
}

function control(text: string, offset: number): Words {
  let at = offset;
  while (at < text.length && text.charCodeAt(at) >= 0x20) at++;
  if (text[at] === "\t") return ["a tab in text", "It is written \\t.", at];
  return ["a control character in text", "It is written as \\u and four digits.", at];
}
