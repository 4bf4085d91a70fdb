import { expect, test } from "vitest";
import {
  inlineMarkdown,
  isParagraph,
  markdownTokens,
  renderMarkdown,
} from "../../../pipeline/site/markdown.ts";
import { plainText } from "../../../pipeline/site/plain-text.ts";
import { containedMarkdown } from "../../../pipeline/site/release-notes.ts";
import { dangers, elementsOf, linksOf, wordsOf } from "./factory.ts";

const payloads = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "[click](javascript:alert(1))",
  "[click](JaVaScRiPt:alert(1))",
  "[click](java\tscript:alert(1))",
  "[click](&#106;avascript:alert(1))",
  "[click](\u0001javascript:alert(1))",
  "[click](vbscript:msgbox(1))",
  "[click](data:text/html;base64,PHNjcmlwdD4=)",
  "![x](data:image/svg+xml;base64,PHN2Zz4=)",
  "![x](https://tracker.example/pixel.png)",
  '![x" onerror="alert(1)](https://a.example/"onerror="alert(1))',
  "<javascript:alert(1)>",
  '<https://a.example/"onmouseover="alert(1)>',
  "[x]: javascript:alert(1)\n\n[x]",
  "<details open ontoggle=alert(1)>",
  "<a href='javascript:alert(1)'>x</a>",
  "<svg/onload=alert(1)>",
  "```<img src=x onerror=alert(1)>\ncode\n```",
  '[x](https://a.example "title" onclick="alert(1)")',
  "| a |\n|:-:|\n| <script>alert(1)</script> |",
  "a \u0000 b \u001b]8;;http://a.example\u0007link",
];

test.each(payloads)("%j runs and loads nothing", (payload) => {
  expect(dangers(renderMarkdown(payload))).toEqual([]);
  expect(dangers(inlineMarkdown(payload))).toEqual([]);
  expect(dangers(renderMarkdown(`- item\n\n  > ${payload.replaceAll("\n", "\n  > ")}`))).toEqual([]);
});

test("links to the web, to mail and to relative paths are kept, and others are text", () => {
  const text =
    "[a](https://x.example/p?q=1&r=2#f) [b](http://x.example) [c](mailto:a@x.example) [d](../x/) [e](#p1) [f](ftp://x.example)";
  expect(linksOf(renderMarkdown(text))).toEqual([
    "https://x.example/p?q=1&r=2#f",
    "http://x.example",
    "mailto:a@x.example",
    "../x/",
    "#p1",
  ]);
  expect(renderMarkdown(text)).toContain("[f](ftp://x.example)");
});

test("an address in the text is not a link", () => {
  expect(linksOf(renderMarkdown("see https://x.example/ and www.x.example"))).toEqual([]);
});

test("relative links are resolved with the given base", () => {
  const text = "[a](#p1) [b](notes.md) [c](/root) [d](https://x.example/) [e](?q)";
  expect(linksOf(renderMarkdown(text, { base: "../../releases/26.08.002/" }))).toEqual([
    "../../releases/26.08.002/#p1",
    "../../releases/26.08.002/notes.md",
    "/root",
    "https://x.example/",
    "../../releases/26.08.002/?q",
  ]);
  expect(linksOf(renderMarkdown(text, { base: "https://d.example/base/releases/1/" }))).toEqual([
    "https://d.example/base/releases/1/#p1",
    "https://d.example/base/releases/1/notes.md",
    "https://d.example/root",
    "https://x.example/",
    "https://d.example/base/releases/1/?q",
  ]);
});

test("a base for one text is not used for the next", () => {
  renderMarkdown("[a](b)", { base: "../" });
  expect(linksOf(renderMarkdown("[a](b)"))).toEqual(["b"]);
});

test("an image is a link to it, and only its text inside another link", () => {
  const [link] = elementsOf(renderMarkdown("![a *chart*](chart.png)"), "a");
  expect(link && wordsOf(link)).toBe("a chart");
  const nested = renderMarkdown("[![logo](logo.png)](https://x.example/) ![after](b.png)");
  expect(linksOf(nested)).toEqual(["https://x.example/", "b.png"]);
  expect(wordsOf(elementsOf(nested, "body")[0] as never)).toContain("logo");
});

/** The length of all copies that a function makes of parts of lists and texts. */
function copiedBy(work: () => unknown): number {
  const counted = [Array.prototype, String.prototype];
  const originals = counted.map(({ slice }) => slice);
  let copied = 0;
  for (const [index, prototype] of counted.entries()) {
    prototype.slice = function (this: never, ...args: []) {
      const part = Reflect.apply(originals[index] as () => [], this, args);
      copied += part.length;
      return part;
    } as never;
  }
  try {
    work();
  } finally {
    for (const [index, prototype] of counted.entries()) prototype.slice = originals[index] as never;
  }
  return copied;
}

test.each([
  ["pictures", "![a](b) "],
  ["pictures in links", "[![a](b)](c) "],
  ["links", "[a](b) "],
  ["definitions and their links", "[a]: b\n\n[a]\n\n"],
  ["tags", "<b> `<b>` \\\\<b>\n"],
  ["rows of a table", "|a|b|\n|-|-|\n|<b>|`c`|<d>|\n"],
])("the work for many %s grows with the length of the text", (_, piece) => {
  const text = piece.repeat(3000);
  const contained = (written: string) => containedMarkdown(written, "note1-");
  for (const render of [renderMarkdown, inlineMarkdown, plainText, contained])
    expect(copiedBy(() => render(text)) / text.length).toBeLessThan(60);
});

test("headings are bold paragraphs outside the page's outline", () => {
  const html = renderMarkdown("# One\n\ntext\n\nTwo\n---\n\n###### Six");
  for (let level = 1; level <= 6; level++) expect(elementsOf(html, `h${level}`)).toEqual([]);
  expect(elementsOf(html, "strong").map(wordsOf)).toEqual(["One", "Two", "Six"]);
});

test("columns are aligned without a style attribute", () => {
  expect(renderMarkdown("| a | b |\n|--:|:-:|\n| 1 | 2 |")).toContain('<td class="align-right">1</td>');
});

test("control characters are replaced, and all kinds of line ends are line ends", () => {
  expect(renderMarkdown("a\u0007b\r\n\r\nc\rd")).toBe("<p>a\uFFFDb</p>\n<p>c\nd</p>\n");
});

test("inline Markdown has no blocks", () => {
  expect(inlineMarkdown("**bold** `code` # no heading")).toBe(
    "<strong>bold</strong> <code>code</code> # no heading",
  );
});

test.each([
  ["words with *marks*\nin two lines", true],
  ["[x]: https://a.example", false],
  ["[x]: ftp://a.example", true],
  ["[x]: javascript:alert(1)\n\n[x]", false],
  ["- an item", false],
  ["", false],
])("%j is one paragraph, as its tokens say: %s", (text, expected) => {
  const tokens = markdownTokens(text);
  expect(tokens.length === 3 && tokens[0]?.type === "paragraph_open").toBe(expected);
  expect(isParagraph(text)).toBe(expected);
});
