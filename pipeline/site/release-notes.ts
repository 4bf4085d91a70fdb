import type { Note } from "../documents/note.ts";
import type { NoteSection, NotesConfig, OutputFile, PublishedRelease } from "../documents/published.ts";
import type { NotesDocument } from "../documents/site.ts";
import { containedMarkdown } from "./contained-markdown.ts";
import { bdi, escapeHtml, visible, withLineFeeds } from "./escape.ts";
import { inlineMarkdown, isParagraph, type MarkdownLinks, renderMarkdown } from "./markdown.ts";
import { jsonFile, textFile } from "./output.ts";
import { plainText } from "./plain-text.ts";
import { type References, referencesHtml, withReferences } from "./references.ts";

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

const publishedNote = ({ text, refs, security }: Note) => ({ text, refs, security });

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

/**
 * Labels and references become part of a paragraph; around a list or code block they are separate paragraphs.
 */
function markdownItem({ text, refs, security }: Note, number: number, known: References): string {
  const body = containedMarkdown(expanded(text).trimEnd(), `note${number}-`);
  const sources = refs.map((ref) => markdownRef(ref, known)).join(", ");
  const whole = isParagraph(body)
    ? `${security ? "**Security:** " : ""}${body.trimStart()}${sources && ` (${sources})`}`
    : [security ? "**Security**" : "", body.replace(/^\n+/, ""), sources && `(${sources})`]
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

function htmlItem({ text, refs, security }: Note, links: MarkdownLinks): string {
  const mark = security ? '<strong class="security">Security</strong> ' : "";
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

function textItem({ text, refs, security }: Note): string {
  const sources = visible(refs.join(", "));
  const body = plainText(text) + (sources && (isParagraph(text) ? ` (${sources})` : `\n(${sources})`));
  return `- ${security ? "[Security] " : ""}${body.replace(/\n(?=[^\n])/g, "\n  ")}`;
}

/**
 * Groups notes by component and kind in configured order; the default is Server (Fixes, Features),
 * Documentation (Features), Meta Control Plane (Fixes). Empty sections are omitted.
 */
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
