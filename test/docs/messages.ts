import { parseAst } from "rolldown/parseAst";

/** Text in a source that people may read: literals and templates of at least two words. Expressions are CODE. */
export function messagesIn(source: string): string[] {
  const found: string[] = [];
  collect(parseAst(source, { lang: "ts" }), found);
  return found.filter(isProse).map((text) => text.replace(/`[^`]*`/g, "CODE"));
}

interface Node {
  type: string;
  value?: unknown;
  operator?: string;
  left?: unknown;
  right?: unknown;
  quasis?: { value: { cooked: string } }[];
  expressions?: unknown[];
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

const isProse = (text: string): boolean => /[a-zA-Z]{2} [a-z]|CODE [a-z]|[a-z]{2} CODE/.test(text);

/** Names of modules, and types, are not messages. */
const isSkipped = ({ type }: Node): boolean =>
  /^(Import|ExportAll)Declaration$/.test(type) || /^TS(?!As|Satisfies|NonNull)/.test(type);

function collect(node: unknown, found: string[]): void {
  if (Array.isArray(node)) for (const each of node) collect(each, found);
  if (!isNode(node) || isSkipped(node)) return;
  const text = textOf(node);
  if (text !== undefined) found.push(text);
  for (const each of text === undefined ? Object.values(node) : insideOf(node)) collect(each, found);
}

/** Parts that `+` joins are one text. */
function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  const { type, value, operator, left, right, quasis = [] } = node;
  if (type === "Literal") return typeof value === "string" ? value : undefined;
  if (type === "TemplateLiteral") return quasis.map(({ value: { cooked } }) => cooked).join("CODE");
  if (type !== "BinaryExpression" || operator !== "+") return undefined;
  const [before, after] = [textOf(left), textOf(right)];
  return before === undefined && after === undefined ? undefined : `${before ?? "CODE"}${after ?? "CODE"}`;
}

/** Expressions in a text, which may have texts of their own. */
function insideOf({ type, left, right, expressions = [] }: Node): unknown[] {
  if (type !== "BinaryExpression") return expressions;
  return [left, right].flatMap((side) =>
    isNode(side) && textOf(side) !== undefined ? insideOf(side) : [side],
  );
}
