/** Dashes, perhaps a key, and what stands after the last of them. */
const entry = /^( *(?:- +)*)(?:-|[A-Za-z_][\w-]*:)(?: +|$)(.*)$/;
/** A list or table in brackets may go on in the lines below. */
const unclosed = /^[[{](?![^[\]{}]*[\]}] *$)/;
const header = /^[|>]-? *$/;
const blankOrComment = /^ *(?:#(?: .*)?)?$/;

/**
 * A YAML text without its block texts (`key: >-` and the lines below it), which may hold anything. A header is believed
 * as long as every line before it could be read with certainty; from the first that could not, everything is left in.
 */
export function withoutBlockTexts(text: string): string {
  const lines = text.split("\n");
  const kept: string[] = [];
  // A line that begins beyond this column goes on with the value of the line before.
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
 * A block text is as deep as its first line, and deeper than the key or dash before its header.
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
