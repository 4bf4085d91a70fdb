import { type Node, parseTree } from "jsonc-parser";
import { syntaxProblem } from "./json-faults.ts";
import { duplicateKey, maxDepth, type Path, type Syntax, tooDeep } from "./source.ts";

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
  let parsed: JsonTree | undefined;
  const tree = () => {
    parsed ??= new JsonTree(text);
    return parsed;
  };
  // JSON.parse of Node 24 and 26 can mistake a key with an escape for another (nodejs/node#63785).
  const doubtful = escapedKey || countMembers(value) !== colons;
  const repeated = doubtful ? findDuplicate(tree().root) : undefined;
  if (repeated) {
    const { first, second } = repeated;
    throw duplicateKey(second.value, text, first.offset, second.offset);
  }
  return {
    value: doubtful ? plainValue(tree().root) : value,
    locate: (path, part) => tree().locate(path, part),
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

/** Looks up locations with cached indexes per object. */
class JsonTree {
  readonly root: Node | undefined;
  private readonly members = new WeakMap<Node, Map<unknown, Node>>();

  constructor(text: string) {
    this.root = parseTree(text);
  }

  locate(path: Path, part: "key" | "value"): number {
    let node = this.root;
    let offset = node?.offset ?? 0;
    for (const [index, step] of path.entries()) {
      const member = node?.type === "object" ? this.membersOf(node).get(step) : undefined;
      const [key, value] = member?.children ?? [];
      if (key && part === "key" && index === path.length - 1) return key.offset;
      node = node?.type === "array" && typeof step === "number" ? node.children?.[step] : value;
      if (!node) break;
      offset = node.offset;
    }
    return offset;
  }

  private membersOf(object: Node): Map<unknown, Node> {
    const known =
      this.members.get(object) ??
      new Map(object.children?.map((member) => [member.children?.[0]?.value, member]));
    this.members.set(object, known);
    return known;
  }
}
