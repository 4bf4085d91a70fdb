import { harmless } from "./cells.ts";

const marks = /[&<>`|\\*_[\]~#!@:$]|(?<=www)\./gi;

/**
 * Escapes user text for a table cell: no Markdown, HTML, mention, reference, link or line break takes effect.
 * Code style is used, because GitHub looks for mentions after decoding entities, but not in code.
 */
export const codeCell = (text: string): string =>
  `<code>${harmless(text).replace(marks, (mark) => `&#${mark.charCodeAt(0)};`)}</code>`;

export interface MarkdownSection {
  title: string;
  /** Column names; a final colon aligns the column to the right. */
  head: readonly string[];
  rows: readonly (readonly string[])[];
  /** Number of visible rows; the others are folded. Default: all. */
  unfolded?: number;
}

/** Measures length: characters for comments, bytes for files. */
export type Measure = (text: string) => number;

export const characters: Measure = (text) => text.length;
export const bytes: Measure = (text) => Buffer.byteLength(text);

/** Shows the visible rows of all sections first, then the folded ones; omitted rows are counted. */
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

/** Maximum size of a section without its rows. */
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
