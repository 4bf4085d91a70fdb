import MarkdownIt, { type StateInline, type Token } from "markdown-it";
import type { Note } from "../documents/note.ts";
import type { NoteSection, NotesConfig, OutputFile, PublishedRelease } from "../documents/published.ts";
import type { NotesDocument } from "../documents/site.ts";
import { bdi, escapeHtml, visible, withLineFeeds } from "./escape.ts";
import {
  inlineMarkdown,
  isParagraph,
  type MarkdownLinks,
  type References,
  referencesHtml,
  renderMarkdown,
  withReferences,
} from "./markdown.ts";
import { jsonFile, textFile } from "./output.ts";
import { plainText } from "./plain-text.ts";

/** `releases/{version}/notes.md` and `notes.json`. */
export function releaseNotesFiles(release: PublishedRelease, config: NotesConfig): OutputFile[] {
  const markdown = textFile(`releases/${release.version}/notes.md`, notesMarkdown(release, config));
  return [markdown, notesFile(release, config)];
}

export const notesFile = (release: PublishedRelease, config: NotesConfig): OutputFile =>
  jsonFile(`releases/${release.version}/notes.json`, notesDocument(release, config));

/** Notes as data, in displayed sections. */
export function notesDocument(release: PublishedRelease, config: NotesConfig): NotesDocument {
  return {
    schema_version: 1,
    product: config.product,
    version: release.version,
    date: release.date,
    ...(release.corrected !== undefined && { corrected: release.corrected }),
    summary: release.summary,
    sections: noteSections(release.notes, config).map(({ component, title, kinds }) => ({
      component,
      title,
      kinds: kinds.map((kind) => ({ ...kind, notes: kind.notes.map(publishedNote) })),
    })),
  };
}

const publishedNote = ({ text, refs, security, advisory }: Note) => ({
  text,
  refs,
  security,
  ...(advisory && { advisory }),
});

/** How a security note is marked: with the id and the severity, if they are stated. */
const markOf = ({ advisory }: Note): string =>
  advisory ? `Security ${advisory.id}, ${advisory.severity}` : "Security";

/** Notes as a Markdown document. User text is Markdown already; no text affects another one. */
export function notesMarkdown(release: PublishedRelease, config: NotesConfig): string {
  const { version, date, corrected } = release;
  const days = `Released ${date}${corrected === undefined ? "" : `, notes corrected ${corrected}`}`;
  const blocks = [`# ${escapeMarkdown(config.product)} ${version}`, days];
  if (release.summary) blocks.push(containedMarkdown(expanded(release.summary).trim(), "summary-"));
  let number = 0;
  for (const section of noteSections(release.notes, config)) {
    blocks.push(`## ${escapeMarkdown(section.title)}`);
    for (const kind of section.kinds) {
      blocks.push(
        `### ${escapeMarkdown(kind.title)}`,
        kind.notes.map((note) => markdownItem(note, ++number, config.refs)).join("\n"),
      );
    }
  }
  return `${blocks.join("\n\n")}\n`;
}

/** Labels and references become part of a paragraph; beside a list or code block they are paragraphs of their own. */
function markdownItem(note: Note, number: number, known: References): string {
  const { text, refs, security } = note;
  const mark = escapeMarkdown(markOf(note));
  const body = containedMarkdown(expanded(text).trimEnd(), `note${number}-`);
  const sources = refs.map((ref) => markdownRef(ref, known)).join(", ");
  const whole = isParagraph(body)
    ? `${security ? `**${mark}:** ` : ""}${body.trimStart()}${sources && ` (${sources})`}`
    : [security ? `**${mark}**` : "", body.replace(/^\n+/, ""), sources && `(${sources})`]
        .filter(Boolean)
        .join("\n\n");
  return `- ${whole.replace(/\n(?=[^\n])/g, "\n  ")}`;
}

/** Tabs at the start of a line would shrink after the item's own indent. */
const expanded = (text: string): string =>
  visible(withLineFeeds(text)).replace(/^[ \t]+/gm, (indent) =>
    [...indent].reduce(
      (spaces, char) => spaces + " ".repeat(char === "\t" ? 4 - (spaces.length % 4) : 1),
      "",
    ),
  );

const isUrl = (ref: string): boolean => /^https?:\/\/[^\s<>"`\\{}|^]+$/.test(ref);
const markdownRef = (ref: string, known: References): string =>
  isUrl(ref)
    ? `<${ref}>`
    : withReferences(ref, known, escapeMarkdown, (text, href) => `[${escapeMarkdown(text)}](<${href}>)`);

/** Escapes text for Markdown. A backtick cannot be escaped by a backslash. */
const escapeMarkdown = (text: string): string =>
  visible(text).replace(/[&<>`]|([\\*_[\]#|~!])/g, (mark, escapable) =>
    escapable === undefined ? `&#${mark.charCodeAt(0)};` : `\\${mark}`,
  );

/** Notes as an HTML fragment with headings below h2. Empty without notes. */
export function notesHtml(release: PublishedRelease, config: NotesConfig, links?: MarkdownLinks): string {
  return noteSections(release.notes, config)
    .map(({ title, kinds }) => {
      const lists = kinds.map(
        (kind) =>
          `<h4>${bdi(kind.title)}</h4>\n<ul>\n${kind.notes.map((note) => htmlItem(note, { ...links, refs: config.refs })).join("")}</ul>\n`,
      );
      return visible(`<h3>${bdi(title)}</h3>\n${lists.join("")}`);
    })
    .join("");
}

function htmlItem(note: Note, links: MarkdownLinks): string {
  const { text, refs, security } = note;
  const mark = security ? `<strong class="security">${escapeHtml(markOf(note))}</strong> ` : "";
  const sources =
    refs.length > 0
      ? ` <span class="refs">(${refs.map((ref) => htmlRef(ref, links)).join(", ")})</span>`
      : "";
  if (isParagraph(text)) return `<li dir="auto">${mark}${inlineMarkdown(text, links)}${sources}</li>\n`;
  const before = mark && `<p>${mark}</p>\n`;
  const after = sources && `<p>${sources.trimStart()}</p>\n`;
  return `<li dir="auto">${before}${renderMarkdown(text, links)}${after}</li>\n`;
}

const htmlRef = (ref: string, { refs = new Map() }: MarkdownLinks): string =>
  isUrl(ref) ? `<a href="${escapeHtml(ref)}">${bdi(ref)}</a>` : `<bdi>${referencesHtml(ref, refs)}</bdi>`;

export function notesText(release: PublishedRelease, config: NotesConfig): string {
  const blocks = [visible(`${config.product} ${release.version} (${release.date})`)];
  if (release.summary) blocks.push(plainText(release.summary));
  for (const section of noteSections(release.notes, config)) {
    for (const kind of section.kinds) {
      blocks.push(visible(`${section.title}: ${kind.title}`), kind.notes.map(textItem).join("\n"));
    }
  }
  return `${blocks.join("\n\n")}\n`;
}

function textItem(note: Note): string {
  const { text, refs, security } = note;
  const sources = visible(refs.join(", "));
  const body = plainText(text) + (sources && (isParagraph(text) ? ` (${sources})` : `\n(${sources})`));
  return `- ${security ? `[${markOf(note)}] ` : ""}${body.replace(/\n(?=[^\n])/g, "\n  ")}`;
}

/** Notes by component and kind in configured order, without empty sections. */
function noteSections(
  notes: readonly Note[],
  config: Pick<NotesConfig, "components" | "kinds">,
): NoteSection[] {
  const sections: NoteSection[] = [];
  for (const [component, title] of config.components) {
    const kinds = [...config.kinds].map(([kind, kindTitle]) => ({
      kind,
      title: kindTitle,
      notes: notes.filter((note) => note.component === component && note.kind === kind),
    }));
    const filled = kinds.filter((kind) => kind.notes.length > 0);
    if (filled.length > 0) sections.push({ component, title, kinds: filled });
  }
  return sections;
}

interface Containment {
  /** Prefix of the labels of links that the text defines. */
  scope: string;
  /** Content that is parsed; the alternative text of a picture is parsed apart and cannot contain markup. */
  content: string;
  /** Replacements for characters of the content, by index. */
  changes: Map<number, string>;
  /** Brackets around words that are no link, by the index of the closing one. */
  brackets: Map<number, number>;
  /** First line of each definition of a link, and the line after it. */
  definitions: [number, number][];
}

const containmentOf = (env: object): Containment => env as unknown as Containment;

/** A `<` that begins HTML in renderers that allow HTML, unless it is escaped. */
const tag = /<(?=[a-z/!?])(?<=(?:^|[^\\])(?:\\\\)*<)/gi;

/** The label of a definition, with its colon. */
const label = /\[(?:\\[\s\S]|[^\\\]])*\]:/y;

const ruleOf = <Rule>(rules: readonly { name: string; fn: Rule }[], name: string): Rule => {
  const found = rules.find((rule) => rule.name === name);
  if (!found) throw new Error(`markdown-it has no rule ${name}`);
  return found.fn;
};

/** The dialect of pages, GitHub and GitLab: CommonMark with tables. */
const markdown = new MarkdownIt("default", { html: false }).disable("inline");
// Other renderers allow links that a page does not.
markdown.validateLink = () => true;

const define = ruleOf(markdown.block.ruler.__rules__, "reference");
markdown.block.ruler.at("reference", (state, start, end, silent) => {
  const isDefinition = define(state, start, end, silent);
  if (isDefinition && !silent) containmentOf(state.env).definitions.push([start, state.line]);
  return isDefinition;
});

// Called for each `<` that begins neither code nor a link.
markdown.inline.ruler.after("autolink", "tag", (state) => {
  const { src, pos, env } = state;
  const { content, changes, brackets } = containmentOf(env);
  if (src !== content || !/^<[a-z/!?]/i.test(src.slice(pos, pos + 2))) return false;
  changes.set(pos, "\\<");
  // `[a](<b)` is no link, but `[a](\<b)` would be one.
  let before = pos - 1;
  while (/\s/.test(src[before] ?? "")) before--;
  const opening = src[before] === "(" ? brackets.get(before - 1) : undefined;
  if (opening !== undefined && !changes.has(opening) && !changes.has(before - 1))
    changes.set(opening, "\\[").set(before - 1, "\\]");
  return false;
});

for (const name of ["link", "image"]) {
  const parse = ruleOf(markdown.inline.ruler.__rules__, name);
  markdown.inline.ruler.at(name, (state, silent) => {
    const bracket = name === "image" ? state.pos + 1 : state.pos;
    const isFound = parse(state, silent);
    const { content, brackets } = containmentOf(state.env);
    if (state.src !== content || state.src[bracket] !== "[") return isFound;
    const closing = state.md.helpers.parseLinkLabel(state, bracket, name === "link");
    // A link in the alternative text of a picture is parsed silently only.
    if (isFound) changeLink(state, bracket, closing);
    else if (closing >= 0) brackets.set(closing, bracket);
    return isFound;
  });
}

/** `[a]`, `[a][]` and `[words][a]` get the scope of their definition. Tags in an address or title are escaped. */
function changeLink({ src, pos: end, env }: StateInline, bracket: number, closing: number): void {
  const { scope, changes } = containmentOf(env);
  const words = src.slice(bracket + 1, closing).replace(/\s+/g, " ");
  const own = scope + words.replace(tag, "\\<");
  if (src[end - 1] === ")") escapeAddress(src, [closing + 2, end], changes);
  else if (end === closing + 1) changes.set(closing, `][${own}]`);
  else {
    changes.set(closing + 1, `[${end === closing + 3 ? own : scope}`);
    escapeTags(src, [closing + 2, end], changes);
  }
}

/** Escapes tags in the address and title of a link, but not the `<` that encloses the address. */
function escapeAddress(text: string, [start, end]: [number, number], changes: Map<number, string>): void {
  const first = text.slice(start, end).search(/[^\s>]/);
  escapeTags(text, [start + (text[start + first] === "<" ? first + 1 : 0), end], changes);
}

function escapeTags(text: string, [start, end]: [number, number], changes: Map<number, string>): void {
  for (const { index } of text.slice(start, end).matchAll(tag)) changes.set(start + index, "\\<");
}

/**
 * Markdown that cannot affect the text after it in a larger document: HTML is escaped, a fence is closed, and
 * definitions of links apply only to this text.
 * @param text with line feeds
 * @param scope begins the labels of its links in the document
 */
export function containedMarkdown(text: string, scope: string): string {
  if (!/[<[]|```|~~~/.test(text)) return text;
  const env = {
    scope,
    content: "",
    changes: new Map(),
    brackets: new Map(),
    definitions: [],
  } satisfies Containment;
  const tokens = markdown.parse(text, env);
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1), text.length];
  const changes = new Map<number, string>();
  const marks = /[<[\]]/g;
  let rowEnd = 0;
  for (const { type, map, content } of tokens) {
    if (map && (type === "inline" || type === "tr_open")) marks.lastIndex = starts[map[0]] ?? 0;
    if (type === "inline")
      changeInline({ ...env, content, changes: new Map(), brackets: new Map() }, { text, marks, changes });
    if (type === "inline" && map) joinTags(text, starts.slice(map[0] + 1, map[1]), changes);
    // Cells beyond the last column of a table are not tokens.
    if (map && type === "tr_open") rowEnd = starts[map[1]] ?? text.length;
    if (type === "tr_close") escapeTags(text, [marks.lastIndex, rowEnd], changes);
  }
  for (const [first, next] of containmentOf(env).definitions) {
    const bracket = text.indexOf("[", starts[first]);
    changes.set(bracket, `[${scope}`);
    label.lastIndex = bracket;
    label.test(text);
    escapeTags(text, [bracket + 1, label.lastIndex], changes);
    escapeAddress(text, [label.lastIndex, starts[next] ?? text.length], changes);
    joinTags(text, starts.slice(first + 1, next), changes);
  }
  return changed(text, changes) + missingEnd(text, tokens);
}

/** Changes the content of a token. Its marks are those of its lines, because list and quotation prefixes have none. */
function changeInline(
  env: Containment,
  { text, marks, changes }: { text: string; marks: RegExp; changes: Map<number, string> },
): void {
  markdown.inline.parse(env.content, markdown, { ...env }, []);
  for (const { 0: mark, index } of env.content.matchAll(/[<[\]]/g)) {
    const found = marks.exec(text);
    if (found?.[0] !== mark) throw new Error(`Markdown has no ${mark} where its parser found one`);
    const change = env.changes.get(index);
    if (change !== undefined) changes.set(found.index, change);
  }
}

const tagAtStart = /[ \t>]*(?=<(?:[!?]|\/?[a-z][a-z0-9-]*(?:[\s/>]|$)))/iy;

/** A line that begins with a tag would end the paragraph, even inside code or an address: it is joined to the line before. */
function joinTags(text: string, starts: readonly number[], changes: Map<number, string>): void {
  for (const start of starts) {
    tagAtStart.lastIndex = start;
    const [prefix] = tagAtStart.exec(text) ?? [];
    if (prefix === undefined || changes.has(start + prefix.length)) continue;
    changes.set(start - 1, " ");
    for (let index = start; index < start + prefix.length; index++) changes.set(index, "");
  }
}

function changed(text: string, changes: ReadonlyMap<number, string>): string {
  let [result, done] = ["", 0];
  for (const [index, change] of [...changes].sort(([one], [other]) => one - other)) {
    result += text.slice(done, index) + change;
    done = index + 1;
  }
  return result + text.slice(done);
}

/** The end of a fence that is open at the end of the text. */
function missingEnd(text: string, tokens: readonly Token[]): string {
  const last = tokens.at(-1);
  if (last?.type !== "fence" || !last.map) return "";
  const [start, end] = last.map;
  const lines = text.split("\n").slice(start + 1, end);
  const mark = last.markup;
  return new RegExp(`^\\s*${mark}${mark[0]}*\\s*$`).test(lines.at(-1) ?? "") ? "" : `\n${mark}`;
}
