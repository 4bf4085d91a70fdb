import MarkdownIt, { type RendererRule, type Token } from "markdown-it";
import { escapeHtml, visible, withLineFeeds } from "./escape.ts";

/** How links in a text are written. */
export interface MarkdownLinks {
  /** What relative links are relative to: a path that ends in `/`, or an absolute URL. */
  base: string;
}

const options = { html: false, linkify: false, typographer: false };
const markdown = new MarkdownIt("default", options);

const scheme = /^([a-z][a-z0-9+.-]*):/i;

/** Only what people can follow safely: http, https, mailto, relative paths and anchors. */
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

const baseOf = (env: object | undefined): string | undefined =>
  (env as Partial<MarkdownLinks> | undefined)?.base;

const link: RendererRule = (tokens, index, options, env, renderer) => {
  const token = tokens[index];
  token?.attrSet("href", resolved(attribute(token, "href"), baseOf(env)));
  return renderer.renderToken(tokens, index, options);
};

/** An image is a link: pages load nothing from elsewhere. Inside a link its words are enough. */
const image: RendererRule = (tokens, index, options, env, renderer) => {
  const token = tokens[index];
  const source = resolved(attribute(token, "src"), baseOf(env));
  const words = escapeHtml(renderer.renderInlineAsText(token?.children ?? [], options, env) || source);
  return insideLink(tokens, index) ? words : `<a href="${escapeHtml(source)}">${words}</a>`;
};

function insideLink(tokens: readonly Token[], index: number): boolean {
  const before = tokens.slice(0, index);
  const count = (type: string) => before.filter((token) => token.type === type).length;
  return count("link_open") > count("link_close");
}

/** The style attribute that aligns a column is refused by the pages' content security policy. */
const cell: RendererRule = (tokens, index, options, _env, renderer) => {
  const token = tokens[index];
  const align = attribute(token, "style").replace("text-align:", "");
  if (token && align !== "") token.attrs = [["class", `align-${align}`]];
  return renderer.renderToken(tokens, index, options);
};

Object.assign(markdown.renderer.rules, {
  link_open: link,
  image,
  th_open: cell,
  td_open: cell,
  // A heading inside a note must not become one of the page's outline.
  heading_open: () => '<p class="heading"><strong>',
  heading_close: () => "</strong></p>\n",
});

const readable = (text: string): string => visible(withLineFeeds(text)).trimEnd();

/** Markdown as its block tokens; every renderer of notes starts from here. */
export const markdownTokens = (text: string): Token[] => markdown.parse(readable(text), {});

/** Tells blocks apart, and leaves what is in them unread. */
const blocks = new MarkdownIt("default", options).disable("inline");
// Where a link that may not be followed is defined, that is a paragraph.
blocks.validateLink = markdown.validateLink;

/** True when the text is one paragraph, so that words can be put before and after it. */
export const isParagraph = (text: string): boolean => {
  const tokens = blocks.parse(readable(text), {});
  return tokens.length === 3 && tokens[0]?.type === "paragraph_open";
};

/** Markdown as HTML blocks. Nothing a user wrote becomes markup that is not Markdown's. */
export const renderMarkdown = (text: string, links?: MarkdownLinks): string =>
  visible(markdown.render(readable(text), { ...links }));

/** Markdown as inline HTML: block marks stand there as they were written. */
export const inlineMarkdown = (text: string, links?: MarkdownLinks): string =>
  visible(markdown.renderInline(readable(text).trimStart(), { ...links }));
