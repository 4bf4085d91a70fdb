import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readDrawing } from "../../pipeline/project/pages/drawing.ts";
import { repository } from "../support/run.ts";

const svg = (content: string, attributes = "", before = "") =>
  `${before}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9" ${attributes}>${content}</svg>`;
const xhtml = "http://www.w3.org/1999/xhtml";
const read = (text: string) => readDrawing({ file: "logo.svg", text });
const script = "<script>alert(1)</script>";

/** Drawings that run or load something when a browser opens them, with words of the message. */
const attacks: readonly [name: string, drawing: string, found: string][] = [
  ["script", svg("<script>alert(1)</script>"), "<script>"],
  ["script with a prefix", svg('<x:script xmlns:x="http://www.w3.org/2000/svg"/>'), "<x:script>"],
  [
    "script whose namespace is encoded",
    svg('<x:script xmlns:x="http://www.w3.org/2000/sv&#103;"/>'),
    "<x:script>",
  ],
  ["event handler", svg("", 'onload="alert(1)"'), "the attribute onload in <svg>"],
  ["event handler after a line break", svg('<g\n\tonclick\n=\n"alert(1)"/>'), "the attribute onclick in <g>"],
  ["link to a program", svg('<a href="javascript:alert(1)"><path d="M0 0"/></a>'), "<a>"],
  [
    "encoded link",
    svg('<a xlink:href="java&#115;cript:alert(1)"/>'),
    'a link to "javascript:alert(1)" in <a>',
  ],
  ["animated link", svg('<animate attributeName="href" to="javascript:alert(1)"/>'), "<animate>"],
  ["set handler", svg('<set attributeName="onload" to="alert(1)"/>'), "<set>"],
  ["foreign object", svg("<foreignObject/>"), "<foreignObject>"],
  ["element of HTML", svg(`<h:iframe xmlns:h="${xhtml}"/>`), `<h:iframe> of the namespace "${xhtml}"`],
  [
    "style sheet of HTML",
    svg(`<link xmlns="${xhtml}" rel="stylesheet" href="//x"/>`),
    `<link> of the namespace`,
  ],
  ["handler of XML events", svg("<handler>alert(1)</handler>"), "<handler>"],
  ["import", svg("<style>@import '//evil.example/x.css';</style>"), "@import in <style>"],
  ["encoded import", svg("<style>&#64;import '//evil.example';</style>"), "@import in <style>"],
  [
    "import with many zeros",
    svg("<style>&#x00000000040;import '//evil.example';</style>"),
    "@import in <style>",
  ],
  ["import in CDATA", svg("<style><![CDATA[@import '//evil.example';]]></style>"), "@import in <style>"],
  ["import around a comment", svg("<style>@im<!-- -->port '//evil.example';</style>"), "@import in <style>"],
  [
    "import with a backslash",
    svg("<style>@\\69mport '//evil.example';</style>"),
    "a backslash in CSS in <style>",
  ],
  [
    "font of another host",
    svg("<style>@font-face{src:url(//evil.example)}</style>"),
    "url(//evil.example) in",
  ],
  ["picture set", svg(`<g style="cursor:image-set('//evil.example' 1x)"/>`), "image-set('//evil.example'"],
  [
    "address inside a function",
    svg('<g style="--b:var(--a,url(//evil.example))"/>'),
    "url(//evil.example) in <g>",
  ],
  [
    "fill of another host",
    svg('<g fill="url(https://evil.example/a#b)"/>'),
    "url(https://evil.example/a#b) in <g>",
  ],
  [
    "picture of another host",
    svg('<image href="https://evil.example/p.png"/>'),
    'a link to "https://evil.example/p.png"',
  ],
  ["drawing in a picture", svg('<image href="data:image/svg+xml,x"/>'), 'a link to "data:image/svg+xml,x"'],
  [
    "part of another drawing",
    svg('<use href="//evil.example/x.svg#a"/>'),
    'a link to "//evil.example/x.svg#a"',
  ],
  ["picture of a filter", svg('<filter><feImage href="//evil.example"/></filter>'), "<feImage>"],
  ["base of links", svg('<g xml:base="//evil.example/"/>'), "xml:base in <g>"],
  ["style sheet", svg("", "", '<?xml-stylesheet href="//evil.example/x.css"?>'), "<?xml-stylesheet>"],
  ["other encoding", svg("", "", '<?xml version="1.0" encoding="UTF-7"?>'), "the encoding UTF-7"],
  ["other version", svg("", "", '<?xml version="1.1"?>'), "the XML version 1.1"],
  ["script between quotes of Adobe's marks", svg(`<?xpacket " ?>${script}<?xpacket " ?>`), "<script>"],
  ["script between apostrophes of Adobe's marks", svg(`<?xpacket ' ?>${script}<?xpacket ' ?>`), "<script>"],
  ["script after a quote before the root", svg(`${script}<?xpacket " ?>`, "", '<?xpacket " ?>'), "<script>"],
  ["script between comments in CDATA", svg(`<![CDATA[<!--]]>${script}<![CDATA[-->]]>`), "<script>"],
  ["script in a key of JavaScript", svg(`<__proto__>${script}</__proto__>`), "<script>"],
  [
    "script with a key of JavaScript as prefix",
    svg('<g xmlns:__proto__="http://www.w3.org/2000/svg"><__proto__:script/></g>'),
    "<__proto__:script>",
  ],
  [
    "script in an editor's element",
    svg(
      `<metadata><RDF xmlns="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><h:script xmlns:h="${xhtml}"/></RDF></metadata>`,
    ),
    "<h:script>",
  ],
  [
    "link of an editor's element",
    svg('<i:g xmlns:i="http://ns.adobe.com/a/" xlink:href="javascript:alert(1)"/>'),
    'a link to "javascript:alert(1)" in <i:g>',
  ],
  [
    "link with another prefix",
    svg('<use h:href="//evil.example/x.svg#a" xmlns:h="http://www.w3.org/1999/xlink"/>'),
    'a link to "//evil.example/x.svg#a" in <use>',
  ],
  [
    "import between Adobe's marks",
    svg(`<style><?xpacket " ?>@import '//evil.example';<?xpacket " ?></style>`),
    "@import in <style>",
  ],
  ["import around an element", svg("<style>@im<g>x</g>port '//evil.example';</style>"), "@import in <style>"],
  [
    "import after CDATA",
    svg("<style><![CDATA[a{}]]>@import '//evil.example';</style>"),
    "@import in <style>",
  ],
  ["import after a comment", svg("<style>/* a */@import '//evil.example';</style>"), "@import in <style>"],
  ["attribute of an unknown namespace", svg('<g e:on="x" xmlns:e="urn:e"/>'), "the attribute e:on in <g>"],
];

test.each(attacks)("%s is refused by name", (_, drawing, found) => {
  expect(
    read(drawing)
      .flaws.map(({ message }) => message)
      .join("\n"),
  ).toContain(`the drawing has ${found}`);
});

const wellFormed = "is not well-formed XML: ";
const correct = "Correct the file, or export the drawing again as SVG.";
const doctype =
  "has a DOCTYPE that declares entities or is of another format, expected none or that of SVG 1.0 or 1.1";
const simplify =
  "Remove the DOCTYPE, or save in Illustrator without Preserve Illustrator Editing Capabilities.";

test.each([
  ["entities", svg("&e;", "", "\n<!DOCTYPE svg [<!ENTITY e '<script/>'>]>"), "2:1", doctype, simplify],
  [
    "default attributes",
    svg("", "", "<!DOCTYPE svg [<!ATTLIST svg onload CDATA 'x'>]>"),
    "1:1",
    doctype,
    simplify,
  ],
  [
    "the entities of XHTML",
    svg(
      "<style>&commat;import '//evil.example';</style>",
      "",
      '<!DOCTYPE svg PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">',
    ),
    "1:1",
    doctype,
    simplify,
  ],
  ["a DOCTYPE of its own", svg(script, "", '<!DOCTYPE svg SYSTEM "a>b">'), "1:1", doctype, simplify],
  [
    "another root element",
    `\n<html xmlns="${xhtml}"/>`,
    "2:1",
    `has the root element <html> of the namespace "${xhtml}", expected <svg xmlns="http://www.w3.org/2000/svg">`,
    correct,
  ],
  [
    "no namespace",
    "<svg/>",
    "1:1",
    'has the root element <svg>, expected <svg xmlns="http://www.w3.org/2000/svg">',
    correct,
  ],
])("a file with %s is not a drawing", (_, text, place, message, hint) => {
  const { flaws } = read(text);
  expect(flaws.map(({ at, ...flaw }) => ({ ...flaw, at: `${at.line}:${at.column}` }))).toEqual([
    { message: `the drawing ${message}`, hint, at: place },
  ]);
});

const root = '<svg xmlns="http://www.w3.org/2000/svg">';

/** A browser shows an error in place of these. */
test.each([
  ["an open element", `${root}\n<g></svg>`, "2:9", "unexpected close tag"],
  ["no end", `${root}\n<g>`, "2:3", "unclosed tag: g"],
  ["an unknown entity", `${root}\n &commat;`, "2:9", "undefined entity"],
  ["a key of JavaScript as entity", `${root}\n&constructor;`, "2:13", "undefined entity"],
  ["another key of JavaScript as entity", `${root}\n&toString;`, "2:10", "undefined entity"],
  ["two hyphens in a comment", `${root}\r\n<!-- a -- b -->`, "2:10", "malformed comment"],
  ["a control character", `${root}\n  \x01`, "2:3", "disallowed character"],
  ["a reference to a control character", `${root}\n&#1;`, "2:4", "malformed character entity"],
  ["an unknown prefix", `${root}\n<q:script/>`, "2:11", 'unbound namespace prefix: "q"'],
  ["an attribute twice", `${root}\n<g id="a" id="b"/>`, "2:18", "duplicate attribute: id"],
  ["an attribute without quotes", `${root}\n<g id=a/>`, "2:7", "unquoted attribute value"],
  ["< in an attribute", `${root}\n<g id="<"/>`, "2:8", "disallowed character"],
  ["]]> in text", `${root}\n]]>`, "2:3", 'the string "]]>" is disallowed in char data'],
  ["two roots", `${root}</svg>\n${root}</svg>`, "2:5", "documents may contain only one root"],
  ["text after the root", `${root}</svg>\nx`, "2:1", "text data outside of root node"],
  [
    "a declaration that is not first",
    `${root}\n<?xml ' ?>`,
    "2:6",
    "an XML declaration must be at the start of the document",
  ],
  [
    "a DOCTYPE that is not first",
    `${root}\n<!DOCTYPE svg>`,
    "2:9",
    "inappropriately located doctype declaration",
  ],
  [
    "a declaration with an apostrophe",
    `<?xml version="1.0" x=' ?>${root}</svg>`,
    "1:22",
    "expected the name encoding",
  ],
  ["nothing in it", "", "1:1", "document must contain a root element"],
])("a file with %s is refused with its line and column", (_, text, place, message) => {
  const { flaws } = read(text);
  expect(flaws.map(({ at, ...flaw }) => ({ ...flaw, at: `${at.line}:${at.column}` }))).toEqual([
    { message: `the drawing ${wellFormed}${message}`, hint: correct, at: place },
  ]);
});

test("effects that only a browser can draw are refused, with how to export without them", () => {
  const blur = `<foreignObject>\n<div xmlns="${xhtml}" style="backdrop-filter:blur(2px)"/></foreignObject>`;
  const hints = read(svg(blur)).flaws.map(({ hint }) => hint);
  expect(hints).toHaveLength(2);
  expect(new Set(hints)).toEqual(
    new Set([
      "Remove the background blur in Figma, or save in Illustrator without Preserve Illustrator Editing Capabilities. Then export the drawing again.",
    ]),
  );
});

const inkscape = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!-- Created with Inkscape (http://www.inkscape.org/) -->
<svg width="90mm" height="30mm" viewBox="0 0 90 30" version="1.1" id="svg1" inkscape:version="1.3" sodipodi:docname="a.svg"
  xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" xmlns:sodipodi="http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd"
  xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" xmlns:svg="http://www.w3.org/2000/svg"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:cc="http://creativecommons.org/ns#" xmlns:dc="http://purl.org/dc/elements/1.1/">
 <sodipodi:namedview id="n" pagecolor="#ffffff"><inkscape:grid type="xygrid" id="g"/></sodipodi:namedview>
 <defs id="d"><linearGradient inkscape:collect="always" id="l"><stop style="stop-color:#f00;stop-opacity:1" offset="0" id="s"/></linearGradient>
  <linearGradient xlink:href="#l" id="m" gradientUnits="userSpaceOnUse" x1="0" y1="0" x2="1" y2="1"/></defs>
 <metadata id="e"><rdf:RDF><cc:Work rdf:about=""><dc:format>image/svg+xml</dc:format><dc:type rdf:resource="http://purl.org/dc/dcmitype/StillImage"/></cc:Work></rdf:RDF></metadata>
 <g inkscape:label="Layer (1)" inkscape:groupmode="layer" transform="translate(-1,-2)"><svg:path sodipodi:nodetypes="ccc"
  style="fill:url(#m);-inkscape-font-specification:'Sans, Normal'" d="M 0,0 1,1"/><text xml:space="preserve"><tspan sodipodi:role="line">A</tspan></text></g>
</svg>`;

const oldInkscape = `<svg viewBox="0 0 9 9" xmlns="http://www.w3.org/2000/svg" xmlns:osb="http://www.openswatchbook.org/uri/2009/osb">
<style>/* (c) a@example.com */ .a{fill:#fff}</style>
<defs><linearGradient id="a" osb:paint="solid"><stop offset="0"/></linearGradient></defs></svg>`;

const illustrator = `<?xml version="1.0" encoding="utf-8"?>
<!-- Generator: Adobe Illustrator 27.0.0, SVG Export Plug-In . SVG Version: 6.00 Build 0)  -->
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg version="1.1" id="Layer_1" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" x="0px" y="0px"
  viewBox="0 0 90 30" style="enable-background:new 0 0 90 30;" xml:space="preserve">
<style type="text/css">
  .st0{fill:#FF0000;filter:url(#f);} /* a, b */
  @media (prefers-color-scheme: dark) { .st0:not(.a){fill:rgb(255 0 0);} }
</style>
<metadata><?xpacket begin="It's" id='a'?><x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Adobe"/><?xpacket end='w'?></metadata>
<g data-name="Layer 1"><polygon class="st0" points="0,0 1,1"/></g></svg>`;

const figma = `<svg width="90" height="30" viewBox="0 0 90 30" fill="none" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">
<g clip-path="url(#c)" filter="url(#f)"><mask id="m" style="mask-type:luminance" maskUnits="userSpaceOnUse" x="0" y="0" width="9" height="9"><rect width="9" height="9" fill="white"/></mask>
<path fill-rule="evenodd" clip-rule="evenodd" d="M0 0Z" fill="url(#p)" style="mix-blend-mode:multiply"/></g>
<defs><pattern id="p" patternContentUnits="objectBoundingBox" width="1" height="1"><use xlink:href="#i" transform="matrix(1 0 0 1 0 0)"/></pattern>
<filter id="f" x="0" y="0" width="9" height="9" filterUnits="userSpaceOnUse" color-interpolation-filters="sRGB"><feFlood flood-opacity="0" result="b"/>
<feColorMatrix in="SourceAlpha" type="matrix" values="0 0 0"/><feOffset dy="4"/><feGaussianBlur stdDeviation="2"/><feBlend mode="normal" in2="b" result="e"/></filter>
<image id="i" width="1" height="1" preserveAspectRatio="none" xlink:href="data:image/png;base64,iVBORw0KGgo="/></defs></svg>`;

const sketch = `<svg viewBox="0 0 9 9" version="1.1" xmlns="http://www.w3.org/2000/svg" xmlns:sketch="http://www.bohemiancoding.com/sketch/ns">
<title>Logo</title><desc>Created with Sketch.</desc><g stroke="none" sketch:type="MSPage" aria-label="Logo(s)"><circle cx="1" cy="1" r="1"/></g></svg>`;

describe("an ordinary drawing is accepted as its editor saved it:", () => {
  test.each([
    ["Inkscape SVG", inkscape],
    ["Inkscape 0.92", oldInkscape],
    ["Illustrator", illustrator],
    ["Figma", figma],
    ["Sketch", sketch],
    ["relcat's own icon", readFileSync(join(repository, "templates/favicon.svg"), "utf8")],
  ])("%s", (_, text) => {
    expect(read(text)).toMatchObject({ viewBox: expect.stringMatching(/^0 0 /), flaws: [] });
  });
});
