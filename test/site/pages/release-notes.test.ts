import { expect, test } from "vitest";
import { notesDocumentSchema } from "../../../pipeline/documents/site.ts";
import { renderMarkdown } from "../../../pipeline/site/markdown.ts";
import {
  notesDocument,
  notesHtml,
  notesMarkdown,
  notesText,
  releaseNotesFiles,
} from "../../../pipeline/site/release-notes.ts";
import {
  attributeOf,
  configOf,
  dangers,
  elementsOf,
  hostile,
  linksOf,
  noteOf,
  releaseOf,
  textOf,
  wordsOf,
} from "./factory.ts";

const config = configOf();
const release = releaseOf("26.08.002", {
  summary: "One **paragraph**.",
  notes: [
    noteOf("Docs.", { component: "documentation", kind: "feature" }),
    noteOf("A feature.", { kind: "feature" }),
    noteOf("A fix.", { refs: ["NG-1", "https://x.example/a?b=1&c=2"], security: true }),
    noteOf("Retries.", { component: "meta_control_plane" }),
  ],
});

const items = (html: string) => elementsOf(html, "li").map((item) => wordsOf(item).trim());

const refs = new Map([
  ["NW-", "https://issues.example/browse/{ref}?a=1&b=2"],
  ["#", "https://git.example/issues/{number}"],
  ["CVE-", "https://cve.example/{ref}"],
]);
const tracked = configOf({ refs });
const linkOf = (ref: string) => `https://issues.example/browse/${ref}?a=1&b=2`;

/** Text and address of each link in the HTML of a note. */
const linksIn = (text: string, changes = {}) =>
  elementsOf(notesHtml(releaseOf("26.08.002", { notes: [noteOf(text, changes)] }), tracked), "a").map(
    (link) => [wordsOf(link), attributeOf(link, "href")],
  );

test.each([
  ["NW-12 and (NW-345), NW-1/NW-2.", ["NW-12", "NW-345", "NW-1", "NW-2"]],
  ["**NW-12** ends a sentence: NW-3!", ["NW-12", "NW-3"]],
  ["- in a list: NW-4\n\n> in a quotation: NW-5", ["NW-4", "NW-5"]],
  ["| a |\n|---|\n| NW-6 |", ["NW-6"]],
  ["ANW-1 xNW-2 ÄNW-3 x_NW-4 a-NW-5 NW-6a NW-7ä NW-8-fix NW-9_x NW- NW-x nw-10", []],
  ["`NW-1`\n\n    NW-2\n\n```\nNW-3\n```", []],
  ["at https://other.example/browse/NW-1 and ftp://x/NW-2", []],
])("references are links in %j", (text, found) => {
  expect(linksIn(text)).toEqual(found.map((ref) => [ref, linkOf(ref)]));
});

test("a link that the author wrote is kept, and so is the text of its picture", () => {
  expect(linksIn("[see NW-1](https://own.example/) ![NW-2](https://own.example/p.png)")).toEqual([
    ["see NW-1", "https://own.example/"],
    ["NW-2", "https://own.example/p.png"],
  ]);
});

test("a prefix may be left out of the address, and numbers may have parts", () => {
  expect(linksIn("Fixes #17 and CVE-2026-1234.")).toEqual([
    ["#17", "https://git.example/issues/17"],
    ["CVE-2026-1234", "https://cve.example/CVE-2026-1234"],
  ]);
});

test("refs of a note are links on pages and in Markdown; what is no reference stays text", () => {
  const changes = { refs: ["NW-7", "<b>NW-8</b>", "https://x.example/NW-9"] };
  expect(linksIn("A fix.", changes)).toEqual([
    ["NW-7", linkOf("NW-7")],
    ["NW-8", linkOf("NW-8")],
    ["https://x.example/NW-9", "https://x.example/NW-9"],
  ]);
  const noted = releaseOf("26.08.002", { notes: [noteOf("A fix of NW-6.", changes)] });
  expect(elementsOf(notesHtml(noted, tracked), "b")).toEqual([]);
  expect(notesMarkdown(noted, tracked)).toContain(
    `- A fix of NW-6. ([NW-7](<${linkOf("NW-7")}>), &#60;b&#62;[NW-8](<${linkOf("NW-8")}>)&#60;/b&#62;, <https://x.example/NW-9>)`,
  );
});

test("sections have the configured order, and so have the kinds in them; none is empty", () => {
  expect(notesMarkdown(release, config)).toBe(`# Example Controller 26.08.002

Released 2026-08-19

One **paragraph**.

## Server

### Fixes

- **Security:** A fix. (NG-1, <https://x.example/a?b=1&c=2>)

### Features

- A feature.

## Documentation

### Features

- Docs.

## Meta Control Plane

### Fixes

- Retries.
`);
});

test("the notes of a release without notes are its title and date", () => {
  const empty = releaseOf("26.08.003");
  expect(notesMarkdown(empty, config)).toBe("# Example Controller 26.08.003\n\nReleased 2026-08-19\n");
  expect(notesHtml(empty, config)).toBe("");
  expect(notesText(empty, config)).toBe("Example Controller 26.08.003 (2026-08-19)\n");
});

test.each([
  ["a list", "Says:\n\n- one\n- two"],
  ["a list alone", "- one\n  - deeper\n- two"],
  ["a numbered list", "1. one\n2. two"],
  ["code in a fence", "Run:\n\n```sh\n\tindented by a tab\n\nafter a gap\n```"],
  ["a fence that never ends", "```\nopen"],
  ["indented code", "    code\n\nthen words"],
  ["code behind a tab", "Run:\n\n\tcode"],
  ["a quotation", "> quoted\nlazy"],
  ["two paragraphs", "one\r\n\r\ntwo"],
  ["an HTML comment that never ends", "<!-- open\n\nstill"],
  ["a heading", "# Big\n\ntext"],
  ["blank lines first", "\n\n\ntext"],
])("%s stays inside its list item of the Markdown document", (_, text) => {
  const notes = [noteOf(text, { refs: ["REF-1"], security: true }), noteOf("the note after it")];
  const html = renderMarkdown(notesMarkdown(releaseOf("26.08.002", { notes }), config));
  const list = elementsOf(html, "ul")[0];
  const own = list?.childNodes.filter((node) => "tagName" in node) ?? [];
  expect(own).toHaveLength(2);
  expect(wordsOf(own[0] as never)).toContain("REF-1");
  expect(wordsOf(own[0] as never)).toContain("Security");
  expect(wordsOf(own[1] as never).trim()).toBe("the note after it");
});

test("code keeps its lines and its indentation", () => {
  const notes = [noteOf("Run:\n\n```\nfirst\n    second\n\nlast\n```")];
  const html = renderMarkdown(notesMarkdown(releaseOf("26.08.002", { notes }), config));
  expect(elementsOf(html, "code").map(wordsOf)).toEqual(["first\n    second\n\nlast\n"]);
});

test("titles and product names are escaped, and notes are Markdown", () => {
  const odd = configOf({
    product: "*A* [b](c) <i> `d` #",
    components: new Map([["server", "_Ser_ver & **co**"]]),
    kinds: new Map([["fix", "Fixes | ![x](y)"]]),
  });
  const html = renderMarkdown(notesMarkdown(releaseOf("26.08.002", { notes: [noteOf("*is*")] }), odd));
  expect(elementsOf(html, "strong").map(wordsOf)).toEqual([
    "*A* [b](c) <i> `d` # 26.08.002",
    "_Ser_ver & **co**",
    "Fixes | ![x](y)",
  ]);
  expect(elementsOf(html, "em").map(wordsOf)).toEqual(["is"]);
});

test("a reference cannot open code or a link", () => {
  const notes = [
    noteOf("an open ` tick", { refs: ["`x` <b> [a](b)", "javascript:alert(1)", "https://x.example/<b>"] }),
  ];
  const html = renderMarkdown(notesMarkdown(releaseOf("26.08.002", { notes }), config));
  expect(items(html)).toEqual([
    "an open ` tick (`x` <b> [a](b), javascript:alert(1), https://x.example/<b>)",
  ]);
  expect(elementsOf(html, "code")).toEqual([]);
  expect(linksOf(html)).toEqual([]);
});

test("the HTML fragment has the same sections under an h2, with marks and links", () => {
  const html = notesHtml(release, config);
  const headings = elementsOf(html).filter((element) => /^h[1-6]$/.test(element.tagName));
  expect(headings.map((heading) => `${heading.tagName} ${wordsOf(heading)}`)).toEqual([
    "h3 Server",
    "h4 Fixes",
    "h4 Features",
    "h3 Documentation",
    "h4 Features",
    "h3 Meta Control Plane",
    "h4 Fixes",
  ]);
  expect(items(html)[0]).toBe("Security A fix. (NG-1, https://x.example/a?b=1&c=2)");
  expect(linksOf(html)).toEqual(["https://x.example/a?b=1&c=2"]);
});

test("hostile text is text in every form", () => {
  const notes = [
    noteOf(hostile, { refs: [hostile] }),
    noteOf(`- ${hostile}\n- b`, { refs: [hostile], security: true }),
  ];
  const odd = configOf({
    product: hostile,
    components: new Map([["server", hostile]]),
    kinds: new Map([["fix", hostile]]),
  });
  const nasty = releaseOf("26.08.002", { notes, summary: hostile });
  expect(dangers(notesHtml(nasty, odd))).toEqual([]);
  expect(dangers(renderMarkdown(notesMarkdown(nasty, odd)))).toEqual([]);
  for (const text of [notesText(nasty, odd), notesMarkdown(nasty, odd)])
    expect(text).not.toMatch(/[^\P{Cc}\n]/u);
});

test("a terminal gets words, marks and addresses without Markdown", () => {
  const text =
    "**Bold** with `code`, a [link](https://x.example/) and <https://y.example/>:\n\n- one\n  more\n- two\n\n  1. a\n  2. b\n\n> said\n\n```\nx <- y\n```";
  const notes = [noteOf(text, { refs: ["NG-1"], security: true }), noteOf("short", { refs: ["NG-2"] })];
  expect(
    notesText(releaseOf("26.08.002", { notes, summary: "# Big\n\nwords" }), config),
  ).toBe(`Example Controller 26.08.002 (2026-08-19)

Big

words

Server: Fixes

- [Security] Bold with code, a link <https://x.example/> and https://y.example/:

  - one more
  - two

    1. a
    2. b

  > said

      x <- y
  (NG-1)
- short (NG-2)
`);
});

test("notes.json fits its schema and keeps the text unchanged", () => {
  const document = notesDocument(release, config);
  expect(notesDocumentSchema.parse(document)).toEqual(document);
  expect(document.sections[0]?.kinds[0]?.notes).toEqual([
    { text: "A fix.", refs: ["NG-1", "https://x.example/a?b=1&c=2"], security: true },
  ]);
  expect(document.summary).toBe("One **paragraph**.");
});

test("the files are next to the release's page", () => {
  const files = releaseNotesFiles(release, config);
  expect(files.map((file) => file.path)).toEqual([
    "releases/26.08.002/notes.md",
    "releases/26.08.002/notes.json",
  ]);
  expect(JSON.parse(textOf(files[1]))).toEqual(notesDocument(release, config));
});
