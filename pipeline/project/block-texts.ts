/** Dashes, an optional key, and the rest of the line. */
const entry = /^( *(?:- +)*)(?:-|[A-Za-z_][\w-]*:)(?: +|$)(.*)$/;
/** A flow list or table may continue on the following lines. */
const unclosed = /^[[{](?![^[\]{}]*[\]}] *$)/;
const header = /^[|>]-? *$/;
const blankOrComment = /^ *(?:#(?: .*)?)?$/;

/**
 * Removes block texts (`key: >-` and the lines below), whose content may be anything. A header is recognized
 * only if all lines before it were understood; after the first unclear line, the text stays as it is.
 */
export function withoutBlockTexts(text: string): string {
  const lines = text.split("\n");
  const kept: string[] = [];
  // A line indented beyond this column continues the previous value.
  let last = Number.POSITIVE_INFINITY;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    kept.push(line);
    if (blankOrComment.test(line)) continue;
    const [, before, value] = entry.exec(line) ?? [];
    if (before === undefined || value === undefined || unclosed.test(value) || indentOf(line) > last)
      return kept.concat(lines.slice(at + 1)).join("\n");
    last = value === "" ? Number.POSITIVE_INFINITY : before.length;
    if (header.test(value)) at = lastOfBlockText(lines, at, before.length);
  }
  return kept.join("\n");
}

/**
 * The first line of a block text sets its indentation, which exceeds that of its key or dash.
 * @returns the index of its last line, or that of the header
 */
function lastOfBlockText(lines: readonly string[], headerAt: number, column: number): number {
  let end = headerAt + 1;
  while (end < lines.length && indentOf(lines[end]) === blank) end++;
  const depth = indentOf(lines[end]);
  if (depth <= column) return headerAt;
  while (end < lines.length && indentOf(lines[end]) >= depth) end++;
  return end - 1;
}

const blank = Number.POSITIVE_INFINITY;

function indentOf(line = ""): number {
  const indent = line.search(/[^ ]/);
  return indent === -1 ? blank : indent;
}
