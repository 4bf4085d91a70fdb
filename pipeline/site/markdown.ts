import type { RendererRule, Token } from "markdown-it";
import MarkdownIt from "markdown-it";
import { escapeHtml, visible, withLineFeeds } from "./escape.ts";

export interface MarkdownLinks {
  /** Base of relative links: a path that ends in `/`, or an absolute URL. */
  base?: string;
  refs?: References;
}

/** For a text that is a page of its own, and not a note inside a page. */
interface MarkdownDocument {
  /** Address of a link or picture on the page. */
  address(written: string): string;
  anchor(heading: string): string;
}

const options = { html: false, linkify: false, typographer: false };
const markdown = new MarkdownIt("default", options);

const scheme = /^([a-z][a-z0-9+.-]*):/i;

/** Allows only safe links: http, https, mailto, relative paths and anchors. */
markdown.validateLink = (href) => {
  const found = scheme.exec(href)?.[1]?.toLowerCase();
  if (found !== undefined) return ["http", "https", "mailto"].includes(found);
  return !/^[^/?#]*:/.test(href);
};

function resolved(href: string, base: string | undefined): string {
  if (base === undefined || scheme.test(href)) return href;
  if (scheme.test(base)) return URL.canParse(href, base) ? new URL(href, base).href : base;
  return href.startsWith("/") ? href : base + href;
}

const attribute = (token: Token | undefined, name: string): string => String(token?.attrGet(name) ?? "");

const contextOf = (env: object = {}): MarkdownLinks & { document?: MarkdownDocument } => env;

const link: RendererRule = (tokens, index, options, env, renderer) => {
  const token = tokens[index];
  const href = attribute(token, "href");
  const { document, base } = contextOf(env);
  token?.attrSet("href", document?.address(href) ?? resolved(href, base));
  return renderer.renderToken(tokens, index, options);
};

/** Images become links, because pages load nothing from other sites. Inside a link only the text remains. */
const image: RendererRule = (tokens, index, options, env, renderer) => {
  const token = tokens[index];
  const { document, base } = contextOf(env);
  const own = document?.address(attribute(token, "src"));
  const source = own ?? resolved(attribute(token, "src"), base);
  const words = escapeHtml(renderer.renderInlineAsText(token?.children ?? [], options, env) || source);
  if (own !== undefined) return `<img src="${escapeHtml(own)}" alt="${words}">`;
  return token?.meta === insideLink ? words : `<a href="${escapeHtml(source)}">${words}</a>`;
};

const insideLink = { insideLink: true };

markdown.core.ruler.push("inside-links", ({ tokens, env: { refs } }) => {
  for (const { children } of tokens) {
    let depth = 0;
    for (const token of children ?? []) {
      if (token.type.startsWith("link_")) depth += token.nesting;
      else if (token.type === "image" && depth > 0) token.meta = insideLink;
      else if (token.type === "text" && depth === 0 && refs) {
        const content = referencesHtml(token.content, refs as References);
        Object.assign(token, { type: "html_inline", content });
      }
    }
  }
});

/** The content security policy forbids the style attribute for column alignment. */
const cell: RendererRule = (tokens, index, options, _env, renderer) => {
  const token = tokens[index];
  const align = attribute(token, "style").replace("text-align:", "");
  if (token && align !== "") token.attrs = [["class", `align-${align}`]];
  return renderer.renderToken(tokens, index, options);
};

/** A heading inside a note must not become part of the page's outline. */
const heading: RendererRule = (tokens, index, options, env, renderer) => {
  const { document } = contextOf(env);
  if (!document) return '<p class="heading"><strong>';
  const text = renderer.renderInlineAsText(tokens[index + 1]?.children ?? [], options, env);
  tokens[index]?.attrSet("id", document.anchor(text));
  return renderer.renderToken(tokens, index, options);
};

const headingEnd: RendererRule = (tokens, index, options, env, renderer) =>
  contextOf(env).document ? renderer.renderToken(tokens, index, options) : "</strong></p>\n";

Object.assign(markdown.renderer.rules, {
  link_open: link,
  image,
  th_open: cell,
  td_open: cell,
  heading_open: heading,
  heading_close: headingEnd,
});

const readable = (text: string): string => visible(withLineFeeds(text)).trimEnd();

/** From these blocks every renderer of notes starts. */
export const markdownTokens = (text: string): Token[] => markdown.parse(readable(text), {});

const blocks = new MarkdownIt("default", options).disable("inline");
// A definition of a forbidden link is a paragraph.
blocks.validateLink = markdown.validateLink;

/** True if the text is one paragraph, so that words can be added before and after it. */
export const isParagraph = (text: string): boolean => {
  const tokens = blocks.parse(readable(text), {});
  return tokens.length === 3 && tokens[0]?.type === "paragraph_open";
};

/** Markdown as HTML blocks; user text cannot add other markup. */
export const renderMarkdown = (text: string, links?: MarkdownLinks): string =>
  visible(markdown.render(readable(text), { ...links }));

/** Markdown as inline HTML; block syntax is shown literally. */
export const inlineMarkdown = (text: string, links?: MarkdownLinks): string =>
  visible(markdown.renderInline(readable(text).trimStart(), { ...links }));

/** A Markdown page as HTML blocks with headings and pictures. */
export const renderDocument = (text: string, document: MarkdownDocument): string =>
  visible(markdown.render(readable(text), { document }));

/** Addresses by prefix: `refs:` of catalog.yaml. */
export type References = ReadonlyMap<string, string>;

/** Replaces whole words such as NW-123, outside of addresses, by links. All other text goes through `plain`. */
export function withReferences(
  text: string,
  refs: References,
  plain: (text: string) => string,
  link: (text: string, href: string) => string,
): string {
  if (refs.size === 0) return plain(text);
  const words = String.raw`(?:${[...refs.keys()].join("|")})\d+(?:-\d+)*(?![\p{L}\p{N}_]|-[\p{L}\p{N}])`;
  const parts = text.split(new RegExp(String.raw`(?<![\p{L}\p{N}_-]|:\/\/\S*)(${words})`, "u"));
  return parts.map((part, at) => (at % 2 === 0 ? plain(part) : link(part, addressOf(part, refs)))).join("");
}

function addressOf(ref: string, refs: References): string {
  const [prefix = "", address = ""] = [...refs].find(([each]) => ref.startsWith(each)) ?? [];
  const number = encodeURIComponent(ref.slice(prefix.length));
  return address.replaceAll("{ref}", encodeURIComponent(ref)).replaceAll("{number}", number);
}

const linkOf = (ref: string, href: string) => `<a href="${escapeHtml(href)}">${escapeHtml(ref)}</a>`;

export const referencesHtml = (text: string, refs: References): string =>
  withReferences(text, refs, escapeHtml, linkOf);
