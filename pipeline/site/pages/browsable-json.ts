import { escapeHtml, escapeText } from "../escape.ts";

/** Right-to-left letters, and direction marks. */
const turnsDirection =
  /[\u0590-\u08FF\u200E\u200F\u202A-\u202E\u2066-\u2069\uFB1D-\uFDFF\uFE70-\uFEFF]|[\uD802\uD803\uD83A\uD83B]/;
const jsonString = /"(?:[^"\\]|\\.)*"/g;

/**
 * Escaped, indented JSON with links. Quotes are no entities, because over a hundred a record would be a fifth of the page.
 * @param page the address of the record's page
 */
export function browsableRecord(record: object, page: string): string {
  // As the element of an array it gets one more indentation; the lines of the brackets are removed.
  const text = JSON.stringify([record], null, 4).slice(2, -2);
  const marked = turnsDirection.test(text) || text.includes('"http') ? markStrings(text) : escapeText(text);
  return marked.replace(/: (\d+)/, `: <a href="${escapeHtml(page)}">$1</a>`);
}

function markStrings(text: string): string {
  let html = "";
  let end = 0;
  for (const match of text.matchAll(jsonString)) {
    html += escapeText(text.slice(end, match.index)) + markString(match[0]);
    end = match.index + match[0].length;
  }
  return html + escapeText(text.slice(end));
}

function markString(literal: string): string {
  const value = literal.slice(1, -1);
  const shown = turnsDirection.test(value) ? `<bdi>${escapeText(value)}</bdi>` : escapeText(value);
  if (!/^https?:\/\/[^\s/\\][^\s\\]*$/.test(value)) return `"${shown}"`;
  return `"<a href="${escapeHtml(value)}">${shown}</a>"`;
}
