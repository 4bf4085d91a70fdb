import type { Path } from "../../shared/source.ts";

const pathKey = (key: string | number) => (/^[\w-]+$/.test(String(key)) ? String(key) : display(key));

/** `artifacts[0].sha256`, the form of messages. */
export const pathText = (path: Path): string =>
  path
    .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index > 0 ? "." : ""}${pathKey(key)}`))
    .join("");

/** `artifacts.0.sha256`, the form of HTTP answers. */
export const fieldName = (path: Path): string => path.map(pathKey).join(".");

/** Control characters that JSON does not escape, and bidirectional marks. */
const unseen = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A short form of a value that is safe to print on a terminal. */
export function display(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value !== null && typeof value === "object") return "an object";
  const number = typeof value === "number" || value === undefined;
  const text = (number ? String(value) : JSON.stringify(value)).replace(unseen, escaped);
  if (text.length <= 100) return text;
  return typeof value === "string" ? `${text.slice(0, 97)}…"` : `${text.slice(0, 97)}…`;
}

/** True if the value was copied from a shortened display. */
export const isShortened = (value: unknown): boolean => typeof value === "string" && /…|\.{3}$/.test(value);
export const giveWhole = "It was shortened when it was shown or copied: give all of it.";

/** Quotes a word for a POSIX shell. */
export const shellWord = (word: string): string =>
  /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
