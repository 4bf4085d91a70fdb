import { isScalar, parseDocument, visit } from "yaml";
import { type Syntax, SyntaxProblem } from "../../shared/source.ts";

/** Result of a reader: a value, or a refusal. */
export type Verdict = { accepted: true; value: unknown } | { accepted: false };

export const refused: Verdict = { accepted: false };

export function verdictOf(parse: (text: string) => Syntax, text: string): Verdict {
  try {
    return { accepted: true, value: parse(text).value };
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    return refused;
  }
}

/** YAML 1.2 as the `yaml` library reads it, with text keys, without merge keys and tags. */
export function yamlAuthority(text: string): Verdict {
  const document = parseDocument(text, { version: "1.2", schema: "core", prettyErrors: false });
  if (document.errors.length > 0 || document.warnings.length > 0) return refused;
  let sound = true;
  visit(document, {
    Pair(_, { key }) {
      if (!isScalar(key) || typeof key.value !== "string" || (key.value === "<<" && key.type === "PLAIN"))
        sound = false;
    },
  });
  visit(document, {
    Node(_, node) {
      if ("tag" in node && node.tag) sound = false;
    },
  });
  if (!sound) return refused;
  try {
    return { accepted: true, value: document.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    if (error instanceof ReferenceError) return refused; // An alias without its anchor, or too many.
    throw error;
  }
}

/** JSON.parse, and objects that name a key twice looked for in the plainest way. */
export function jsonAuthority(text: string): Verdict {
  try {
    JSON.parse(text);
  } catch {
    return refused;
  }
  return hasDuplicateKeys(text) ? refused : { accepted: true, value: parseWithPlainKeys(text) };
}

/** Keys in hexadecimal: JSON.parse of Node 24 and 26 mistakes some keys with escapes (nodejs/node#63785). */
function parseWithPlainKeys(text: string): unknown {
  const encoded = text.replaceAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g, (token, colon) => {
    if (colon === undefined) return token;
    const units = Buffer.from(JSON.parse(token.slice(0, -colon.length)), "utf16le");
    return `"${units.toString("hex")}"${colon}`;
  });
  return withDecodedKeys(JSON.parse(encoded));
}

function withDecodedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDecodedKeys);
  if (value === null || typeof value !== "object") return value;
  const decode = (key: string) => Buffer.from(key, "hex").toString("utf16le");
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [decode(key), withDecodedKeys(item)]));
}

function hasDuplicateKeys(text: string): boolean {
  const open: Set<string>[] = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[[\]{}]/g)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token.endsWith(":")) {
      const key: string = JSON.parse(token.replace(/\s*:$/, ""));
      if (open.at(-1)?.has(key)) return true;
      open.at(-1)?.add(key);
    }
  }
  return false;
}
