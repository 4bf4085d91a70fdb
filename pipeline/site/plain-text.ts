import type { Token } from "markdown-it";
import { visible } from "./escape.ts";
import { markdownTokens } from "./markdown.ts";

/** Prefixes of a container: of its first line, and of all others. */
interface Indent {
  first: string;
  rest: string;
}

/** Renders Markdown for a terminal: no emphasis, and link addresses after the text. */
export function plainText(text: string): string {
  const lines: string[] = [];
  const indents: Indent[] = [];
  const numbers: number[] = [];
  let blank = false;

  const put = (block: string) => {
    if (blank && lines.length > 0) lines.push("");
    blank = false;
    for (const line of block.split("\n")) lines.push((nextPrefix(indents) + line).trimEnd());
  };
  const containers: Record<string, (token: Token) => void> = {
    bullet_list_open: () => numbers.push(Number.NaN),
    ordered_list_open: (token) => numbers.push(Number(token.attrGet("start") ?? 1)),
    list_item_open: () => indents.push(itemIndent(numbers)),
    blockquote_open: () => indents.push({ first: "> ", rest: "> " }),
    bullet_list_close: () => numbers.pop(),
    ordered_list_close: () => numbers.pop(),
    list_item_close: () => indents.pop(),
    blockquote_close: () => indents.pop(),
  };
  for (const token of markdownTokens(text)) {
    containers[token.type]?.(token);
    if (token.type === "inline") put(inlineText(token.children ?? []));
    if (token.type === "fence" || token.type === "code_block") put(indented(token.content.trimEnd()));
    // Paragraphs of a tight list are hidden, so its items have no blank lines between them.
    if (token.block && token.nesting !== 1 && !token.hidden && token.type !== "inline") blank = true;
    if (token.type === "list_item_close" || cells.has(token.type)) blank = false;
  }
  return visible(lines.join("\n"));
}

const cells = new Set(["th_close", "td_close", "tr_close", "thead_close"]);

const indented = (code: string): string => code.replace(/^/gm, "    ");

function itemIndent(numbers: number[]): Indent {
  const number = numbers.pop() ?? Number.NaN;
  numbers.push(number + 1);
  const first = Number.isNaN(number) ? "- " : `${number}. `;
  return { first, rest: " ".repeat(first.length) };
}

/** Prefix of the next line; a container's first mark is shown once. */
function nextPrefix(indents: Indent[]): string {
  let prefix = "";
  for (const indent of indents) {
    prefix += indent.first;
    indent.first = indent.rest;
  }
  return prefix;
}

/** Text of inline tokens, with link addresses that the text does not contain. */
function inlineText(tokens: readonly Token[]): string {
  // The text of an open link is collected separately; links are not nested.
  const outside: string[] = [];
  let link: { href: string; words: string[] } | undefined;
  const put = (piece: string) => (link?.words ?? outside).push(piece);
  for (const token of tokens) {
    if (token.type === "softbreak") put(" ");
    else if (token.type === "hardbreak") put("\n");
    else if (token.type === "image")
      put(withAddress(inlineText(token.children ?? []), String(token.attrGet("src"))));
    else if (token.type === "link_open") link = { href: String(token.attrGet("href")), words: [] };
    else if (token.type === "link_close") {
      if (link) outside.push(withAddress(link.words.join(""), link.href));
      link = undefined;
    } else put(token.content);
  }
  return outside.join("");
}

const withAddress = (words: string, href: string): string =>
  words === href || words === decoded(href) ? words : `${words} <${href}>`.trimStart();

function decoded(href: string): string {
  return URL.canParse(href) ? new URL(href).href.replace(/^mailto:/, "") : href;
}
