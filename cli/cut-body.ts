import { harmless } from "./cells.ts";
import type { CutSummary } from "./cut.ts";
import type { RecordRow } from "./records.ts";
import { count } from "./words.ts";

/** A cut as Markdown, for a pull request or a job summary. */
export function cutMarkdown(summary: CutSummary): string {
  const { added, revised, private: hidden, at, settled_by } = summary;
  const blocks: string[] = [];
  if (added.length > 0) blocks.push("### New ids", markdownTable(added));
  if (revised.length > 0) blocks.push("### Revised records", markdownTable(revised));
  const counted = hidden.added + hidden.revised;
  if (counted > 0) blocks.push(`${count(counted, "private record")} not shown.`);
  if (blocks.length === 0) return "Nothing to cut: everything is permanent already.\n";
  blocks.push(`Dated ${at}. Until ${code(settled_by)} has these ledger lines, ids may still change.`);
  return `${blocks.join("\n\n")}\n`;
}

function markdownTable(rows: readonly RecordRow[]): string {
  const lines = rows.map(({ id, version, package_type, name, file }) =>
    [String(id), version, package_type, cell(name), cell(file)].join(" | "),
  );
  return [
    "| id | version | type | name | file |",
    "|---:|---|---|---|---|",
    ...lines.map((line) => `| ${line} |`),
  ].join("\n");
}

/** User text inside a table's cell: nothing in it is Markdown or HTML, and it stays on its line. */
const cell = (text: string): string =>
  harmless(text)
    .replace(/[&<>`|]/g, (mark) => `&#${mark.charCodeAt(0)};`)
    .replace(/[\\*_[\]~#!@:]/g, "\\$&");

const code = (text: string): string => `\`${harmless(text).replaceAll("`", "'")}\``;
