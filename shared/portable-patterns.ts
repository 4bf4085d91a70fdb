/**
 * Published patterns must work in every language: only tokens of JSON Schema 2020-12, section 6.4, and
 * escaped punctuation. Our own patterns use more of JavaScript and are translated.
 */

/** JavaScript's classes, as members of a character class. */
const members: Record<string, string> = {
  d: "0-9",
  w: "A-Za-z0-9_",
  s: "\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
  "p{Cc}": "\u0000-\u001f\u007f-\u009f",
  // Only JavaScript strings can contain lone surrogates.
  "p{Cs}": "",
};
const anyButLineEnds = "[^\n\r\u2028\u2029]";

/** Look-ahead at the start becomes `not`. @throws Error for patterns that cannot be translated */
export function withPortablePatterns<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(withPortablePatterns) as T;
  if (typeof schema !== "object" || schema === null) return schema;
  const { pattern, ...others } = schema as Record<string, unknown>;
  const rest = Object.fromEntries(
    Object.entries(others).map(([name, value]) => [name, withPortablePatterns(value)]),
  );
  if (typeof pattern !== "string")
    return { ...rest, ...(pattern !== undefined && { pattern: withPortablePatterns(pattern) }) } as T;
  return { ...rest, ...portable(pattern, rest) } as T;
}

function portable(pattern: string, { description, not }: Record<string, unknown>): object {
  const [, refused, body = ""] = /^\^(?:\(\?!((?:[^()\\]|\\.)+)\$\))?(.*)$/s.exec(pattern) ?? [];
  if (refused !== undefined && not !== undefined) throw new Error(`${pattern} has a second "not"`);
  const words = pattern.includes("\\p{Cs}") ? [description, "No unpaired surrogates."].filter(Boolean) : [];
  const text = translated(pattern.startsWith("^") ? `^${body}` : pattern);
  return {
    ...(words.length > 0 && { description: words.join(" ") }),
    ...(text !== undefined && { pattern: text }),
    ...(refused !== undefined && { not: { pattern: `^${translated(refused)}$` } }),
  };
}

const token = /\\p\{\w+\}|\\.|\[\^?|\]|\(\?:|\(\?|\.|[\s\S]/gu;

/** @returns undefined if nothing remains */
function translated(pattern: string): string | undefined {
  let isClass = false;
  const parts = (pattern.match(token) ?? []).map((each) => {
    const known = members[each.slice(1)];
    if (each.startsWith("\\") && known !== undefined) return isClass ? known : `[${known}]`;
    if (/^\\[DWbBpP\dukx]/.test(each)) throw new Error(`${pattern} has ${each}`);
    if (each === "\\S") return `[^${members.s}]`;
    if (each === "\\/") return "/";
    if (each === "(?:") return "(";
    if (each === "(?") throw new Error(`${pattern} looks around`);
    if (each === "." && !isClass) return anyButLineEnds;
    if (each.startsWith("[") && !isClass) isClass = true;
    else if (each === "]") isClass = false;
    return each;
  });
  const text = parts.join("").replaceAll("[^]*", "");
  return text === "^$" && pattern !== "^$" ? undefined : text;
}

/** JSON text with escapes for invisible and misleading characters. */
export const plainJson = (value: unknown): string =>
  `${JSON.stringify(value, null, 2).replace(/[\u007f-\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f\u3000\ufeff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
