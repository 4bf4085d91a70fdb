import type { Note } from "../documents/note.ts";
import type { NoteSection, OutputFile, PublishedRelease, SiteConfig } from "../documents/published.ts";
import type { NotesDocument } from "../documents/site.ts";
import { bdi, escapeHtml, visible, withLineFeeds } from "./escape.ts";
import { inlineMarkdown, isParagraph, type MarkdownLinks, renderMarkdown } from "./markdown.ts";
import { jsonFile, textFile } from "./output.ts";
import { plainText } from "./plain-text.ts";

/** `releases/{version}/notes.md` and `notes.json`. */
export function releaseNotesFiles(release: PublishedRelease, config: SiteConfig): OutputFile[] {
  const folder = `releases/${release.version}`;
  return [
    textFile(`${folder}/notes.md`, notesMarkdown(release, config)),
    jsonFile(`${folder}/notes.json`, notesDocument(release, config)),
  ];
}

/** The notes as data, in the sections they are shown in. */
export function notesDocument(release: PublishedRelease, config: SiteConfig): NotesDocument {
  return {
    schema_version: 1,
    product: config.product,
    version: release.version,
    date: release.date,
    summary: release.summary,
    sections: noteSections(release.notes, config).map(({ component, title, kinds }) => ({
      component,
      title,
      kinds: kinds.map((kind) => ({ ...kind, notes: kind.notes.map(publishedNote) })),
    })),
  };
}

const publishedNote = ({ text, refs, security }: Note) => ({ text, refs, security });

/** The notes as a Markdown document. What people wrote is Markdown already and passes through. */
export function notesMarkdown(release: PublishedRelease, config: SiteConfig): string {
  const blocks = [`# ${escapeMarkdown(config.product)} ${release.version}`, `Released ${release.date}`];
  if (release.summary) blocks.push(expanded(release.summary).trim());
  for (const section of noteSections(release.notes, config)) {
    blocks.push(`## ${escapeMarkdown(section.title)}`);
    for (const kind of section.kinds) {
      blocks.push(`### ${escapeMarkdown(kind.title)}`, kind.notes.map(markdownItem).join("\n"));
    }
  }
  return `${blocks.join("\n\n")}\n`;
}

/** Marks and references join a paragraph; around a list or a code block they are paragraphs of their own. */
function markdownItem({ text, refs, security }: Note): string {
  const body = expanded(text).trimEnd();
  const sources = refs.map(markdownRef).join(", ");
  const whole = isParagraph(body)
    ? `${security ? "**Security:** " : ""}${body.trimStart()}${sources && ` (${sources})`}`
    : [security ? "**Security**" : "", body.replace(/^\n+/, ""), sources && `(${sources})`]
        .filter(Boolean)
        .join("\n\n");
  return `- ${whole.replace(/\n(?=[^\n])/g, "\n  ")}`;
}

/** Tabs that indent a line would shrink behind the item's own indent. */
const expanded = (text: string): string =>
  visible(withLineFeeds(text)).replace(/^[ \t]+/gm, (indent) =>
    [...indent].reduce(
      (spaces, char) => spaces + " ".repeat(char === "\t" ? 4 - (spaces.length % 4) : 1),
      "",
    ),
  );

const isUrl = (ref: string): boolean => /^https?:\/\/[^\s<>"`\\{}|^]+$/.test(ref);
const markdownRef = (ref: string): string => (isUrl(ref) ? `<${ref}>` : escapeMarkdown(ref));

/** Text that is no Markdown, so that Markdown shows it as it is. A backslash would not hold back a backtick. */
const escapeMarkdown = (text: string): string =>
  visible(text).replace(/[&<>`]|([\\*_[\]#|~!])/g, (mark, escapable) =>
    escapable === undefined ? `&#${mark.charCodeAt(0)};` : `\\${mark}`,
  );

/** The notes as an HTML fragment whose headings stand under a page's h2. Empty without notes. */
export function notesHtml(release: PublishedRelease, config: SiteConfig, links?: MarkdownLinks): string {
  return noteSections(release.notes, config)
    .map(({ title, kinds }) => {
      const lists = kinds.map(
        (kind) =>
          `<h4>${bdi(kind.title)}</h4>\n<ul>\n${kind.notes.map((note) => htmlItem(note, links)).join("")}</ul>\n`,
      );
      return visible(`<h3>${bdi(title)}</h3>\n${lists.join("")}`);
    })
    .join("");
}

function htmlItem({ text, refs, security }: Note, links?: MarkdownLinks): string {
  const mark = security ? '<strong class="security">Security</strong> ' : "";
  const sources = refs.length > 0 ? ` <span class="refs">(${refs.map(htmlRef).join(", ")})</span>` : "";
  if (isParagraph(text)) return `<li dir="auto">${mark}${inlineMarkdown(text, links)}${sources}</li>\n`;
  const before = mark && `<p>${mark}</p>\n`;
  const after = sources && `<p>${sources.trimStart()}</p>\n`;
  return `<li dir="auto">${before}${renderMarkdown(text, links)}${after}</li>\n`;
}

const htmlRef = (ref: string): string =>
  isUrl(ref) ? `<a href="${escapeHtml(ref)}">${bdi(ref)}</a>` : bdi(ref);

/** The notes for a terminal. */
export function notesText(release: PublishedRelease, config: SiteConfig): string {
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
 * Notes under their component and kind, in the configured order; the default is Server (Fixes, Features),
 * Documentation (Features), Meta Control Plane (Fixes) (source: section 9.3). Empty sections never print.
 */
function noteSections(
  notes: readonly Note[],
  config: Pick<SiteConfig, "components" | "kinds">,
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
