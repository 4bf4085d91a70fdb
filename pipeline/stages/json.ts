import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { maxDepth, type Path, SyntaxProblem, type Syntax, tooDeep } from "./source.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * JSON (RFC 8259) with unique keys. JSON.parse does the work; one scan outside strings counts colons and
 * depth, and a value with fewer members than colons had a duplicate key. Only then is the slow parser,
 * which knows places, asked.
 * @throws SyntaxProblem json-syntax, duplicate-key, nesting-depth
 */
export function parseJson(text: string): Syntax {
  const colons = scan(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw syntaxProblem(text);
  }
  if (countMembers(value) !== colons) throw duplicateKey(text);
  let tree: Node | undefined;
  return {
    value,
    locate(path, part) {
      tree ??= parseTree(text);
      return locate(tree, path, part);
    },
    spelling: () => undefined,
  };
}

/** Colons outside strings; refuses depth before any recursive parser sees the text. */
function scan(text: string): number {
  let colons = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfString(text, i);
    else if (c === COLON) colons++;
    else if (c === 0x7b || c === 0x5b) {
      if (++depth > maxDepth) throw tooDeep(i);
    } else if (c === 0x7d || c === 0x5d) depth--;
  }
  return colons;
}

/** The index of a string's closing quote, or of the text's end. */
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
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countMembers(item), 0);
  const values = Object.values(value);
  return values.reduce((sum: number, item) => sum + countMembers(item), values.length);
}

function syntaxProblem(text: string): SyntaxProblem {
  const errors: ParseError[] = [];
  parseTree(text, errors, { disallowComments: true });
  const first = errors[0];
  if (!first) return new SyntaxProblem("json-syntax", 0, "not valid JSON");
  const words = printParseErrorCode(first.error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return new SyntaxProblem("json-syntax", first.offset, `not valid JSON: ${words}`);
}

function duplicateKey(text: string): SyntaxProblem {
  const found = parseTree(text);
  const key = found && findDuplicate(found);
  const name = key ? JSON.stringify(key.value) : "one";
  return new SyntaxProblem(
    "duplicate-key",
    key?.offset ?? 0,
    `the key ${name} stands twice in one object`,
    "Remove one of them: readers of JSON disagree about which one counts.",
  );
}

function findDuplicate(node: Node): Node | undefined {
  const seen = new Set<string>();
  for (const child of node.children ?? []) {
    const key = node.type === "object" ? child.children?.[0] : undefined;
    if (key && seen.has(key.value)) return key;
    if (key) seen.add(key.value);
    const deeper = findDuplicate(child);
    if (deeper) return deeper;
  }
  return undefined;
}

function locate(root: Node | undefined, path: Path, part: "key" | "value"): number {
  if (!root) return 0;
  for (let length = path.length; length >= 0; length--) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    if (!node) continue;
    const asKey = part === "key" && length === path.length && node.parent?.type === "property";
    return (asKey ? node.parent?.children?.[0]?.offset : undefined) ?? node.offset;
  }
  return root.offset;
}
