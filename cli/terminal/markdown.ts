import { harmless } from "./cells.ts";

const marks = /[&<>`|\\*_[\]~#!@:$]|(?<=www)\./gi;

/**
 * User text inside a table's cell: nothing in it is Markdown, HTML, a mention, a reference or a link, and it stays
 * on its line. As code, because mentions and references are looked for after entities are decoded, but not there.
 */
export const codeCell = (text: string): string =>
  `<code>${harmless(text).replace(marks, (mark) => `&#${mark.charCodeAt(0)};`)}</code>`;

/** Rows of a table that may have to be cut. */
export interface MarkdownSection {
  title: string;
  /** Column names; one that ends in a colon is aligned to the right. */
  head: readonly string[];
  /** Cells, ready to stand between pipes. */
  rows: readonly (readonly string[])[];
  /** How many rows everybody sees; more are folded away. Default: all. */
  unfolded?: number;
}

/** How long a text is: in characters for comments, in bytes for files. */
export type Measure = (text: string) => number;

export const characters: Measure = (text) => text.length;
export const bytes: Measure = (text) => Buffer.byteLength(text);

/**
 * Sections that fit a limit together. Rows that everybody sees come first, then those that are folded away, each
 * time in the order of the sections; what has no space left is counted.
 * @param limit what the texts around the sections leave
 */
export function fitSections(sections: readonly MarkdownSection[], limit: number, measure: Measure): string {
  const shown = sections.map(() => 0);
  let left = limit - sections.reduce((sum, section) => sum + frameOf(section, measure), 0);
  const show = (section: MarkdownSection, index: number, most: number) => {
    for (const row of section.rows.slice(shown[index], most)) {
      const size = measure(line(row));
      if (size > left) return;
      left -= size;
      shown[index] = (shown[index] ?? 0) + 1;
    }
  };
  for (const [index, section] of sections.entries())
    show(section, index, section.unfolded ?? section.rows.length);
  for (const [index, section] of sections.entries()) show(section, index, section.rows.length);
  return sections.map((section, index) => renderSection(section, shown[index] ?? 0)).join("\n");
}

/** What a section takes beside its rows, at most. */
function frameOf(section: MarkdownSection, measure: Measure): number {
  const { rows } = section;
  const whole = rows.map(() => []);
  const table =
    measure(renderSection({ ...section, rows: whole }, rows.length)) - rows.length * measure(line([]));
  return table + measure(notShown(rows.length)) + 1;
}

const line = (row: readonly string[]) => `| ${row.join(" | ")} |\n`;

function renderSection(
  { title, head, rows, unfolded = rows.length }: MarkdownSection,
  shown: number,
): string {
  const names = head.map((name) => name.replace(/:$/, ""));
  const rule = head.map((name) => (name.endsWith(":") ? "---:" : "---"));
  const table = (part: readonly (readonly string[])[]) =>
    part.length > 0 ? [names, rule, ...part].map(line).join("") : "";
  const rest = rows.slice(unfolded, shown);
  const label = `${rest.length} ${unfolded > 0 ? "more" : rest.length === 1 ? "row" : "rows"}`;
  const fold =
    rest.length > 0 ? `\n<details><summary>${label}</summary>\n\n${table(rest)}\n</details>\n` : "";
  const missing = shown < rows.length ? notShown(rows.length - shown) : "";
  return `### ${title}\n\n${table(rows.slice(0, Math.min(shown, unfolded)))}${fold}${missing}`;
}

const notShown = (count: number) =>
  `\n${count} more ${count === 1 ? "is" : "are"} not shown: there is no space left.\n`;
