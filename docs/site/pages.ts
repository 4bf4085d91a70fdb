import { globSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { markdownTokens, renderDocument } from "../../pipeline/site/markdown.ts";

/** A Markdown page of the documentation. */
export interface DocumentPage {
  /** Path of its source, from the repository's root. */
  source: string;
  /** Path in the site. */
  path: string;
  title: string;
  html: string;
  sections: Section[];
  /** Files of the repository that it shows or links to, such as pictures. */
  files: string[];
}

/** A heading and the text below it, for the search. */
export interface Section {
  anchor: string;
  heading: string;
  text: string;
}

const sources = ["*.md", "docs/**/*.md", "examples/*/README.md"];

/** `docs/README.md` is the start of its folder. */
const pathOf = (source: string) => source.replace(/README\.md$/, "index.html").replace(/\.md$/, ".html");

/** Ids as GitHub gives them, so that links work in both places; a repeated heading gets a number. */
export function anchors(): (heading: string) => string {
  const used = new Map<string, number>();
  return (heading) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, "")
      .replaceAll(" ", "-");
    const times = used.get(anchor) ?? 0;
    used.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  };
}

/** All pages, in the order of their paths. */
export function readPages(repository: string): DocumentPage[] {
  const found = globSync(sources, { cwd: repository, exclude: ["node_modules/**"] }).sort();
  const known = new Set(found);
  const pages = found.map((source) => pageOf(source, readFileSync(join(repository, source), "utf8"), known));
  const folders = [...new Set(pages.flatMap(({ files }) => files))].filter(
    (path) => statSync(join(repository, path), { throwIfNoEntry: false })?.isDirectory() === true,
  );
  const lists = folders.map((folder) => pageOf(`${folder}/README.md`, listOf(repository, folder), known));
  return [...pages, ...lists];
}

/** The page of a folder without a README: links to what it contains. */
function listOf(repository: string, folder: string): string {
  const entries = globSync("*", { cwd: join(repository, folder) }).sort();
  return `# ${folder}\n\n${entries.map((name) => `- [${name}](${name})`).join("\n")}\n`;
}

/** A linked path without an ending in its name is a folder. */
const isFolder = (path: string) => !/\.[A-Za-z]+$|(?:^|\/)(?:[A-Z]+|Dockerfile)$/.test(path);

function pageOf(source: string, text: string, known: ReadonlySet<string>): DocumentPage {
  const path = pathOf(source);
  const files: string[] = [];
  const address = (written: string): string => {
    if (/^[a-z]+:|^#/i.test(written)) return written;
    const [file = "", fragment] = written.split("#");
    const target = posix.normalize(posix.join(posix.dirname(source), file)).replace(/\/$/, "");
    const page = known.has(target)
      ? target
      : known.has(`${target}/README.md`)
        ? `${target}/README.md`
        : undefined;
    if (page === undefined) files.push(target);
    const shown = page === undefined ? (isFolder(target) ? `${target}/index.html` : target) : pathOf(page);
    const relative = posix.relative(posix.dirname(path), shown);
    return fragment === undefined ? relative : `${relative}#${fragment}`;
  };
  const html = renderDocument(text, { address, anchor: anchors() });
  const sections = sectionsOf(text);
  return { source, path, title: sections[0]?.heading ?? source, html: wide(html), sections, files };
}

/** A wide table or listing scrolls by keyboard, too. */
const wide = (html: string): string =>
  html
    .replaceAll("<table>", '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll("</table>", "</table></div>")
    .replaceAll("<pre>", '<pre tabindex="0">')
    .replace(/<th><\/th>/g, "<td></td>");

function sectionsOf(text: string): Section[] {
  const sections: Section[] = [];
  const anchor = anchors();
  const tokens = markdownTokens(text);
  for (const [index, token] of tokens.entries()) {
    const words = plain(token);
    if (tokens[index - 1]?.type === "heading_open")
      sections.push({ anchor: anchor(words), heading: words, text: "" });
    else if (words !== "") {
      const last = sections.at(-1);
      if (last) last.text += `${words} `;
    }
  }
  return sections;
}

/** Text of a block without marks. */
const plain = ({ type, content, children }: ReturnType<typeof markdownTokens>[number]): string =>
  type === "inline"
    ? (children ?? []).map((child) => (child.type === "softbreak" ? " " : child.content)).join("")
    : type === "fence"
      ? content
      : "";
