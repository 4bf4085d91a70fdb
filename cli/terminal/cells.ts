const control = /[\p{Cc}\p{Cs}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Escapes characters that move the cursor, change colours or reorder text. */
export const harmless = (text: string): string =>
  text.toWellFormed().replace(/\t/g, "  ").replace(control, "\uFFFD");

/** Made when it is needed: it takes 10 ms, and most output is ASCII. */
let graphemes: Intl.Segmenter | undefined;

/** Splits a text into user-perceived characters. */
export function characters(text: string): string[] {
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

const wide =
  /^[\u1100-\u115F\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F1E6}-\u{1F1FF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}|\uFE0F/u;
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

export const cellsOf = (character: string): number =>
  invisible.test(character) ? 0 : wide.test(character) ? 2 : 1;

export function cells(text: string): number {
  // Fast path for ASCII, which has no combined characters.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  return characters(text).reduce((sum, character) => sum + cellsOf(character), 0);
}

/** Aligns columns; the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map(harmless));
  const widths = (safe[0] ?? []).map((_, column) =>
    safe.reduce((widest, row) => Math.max(widest, cells(row[column] ?? "")), 0),
  );
  const line = (row: readonly string[]) =>
    row.map((text, column) => text + " ".repeat(Math.max(0, (widths[column] ?? 0) - cells(text)))).join("  ");
  return safe.map((row) => line(row).trimEnd()).join("\n");
}
