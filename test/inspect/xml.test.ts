import { describe, expect, test } from "vitest";
import { readXml } from "../../inspect/bytes/xml.ts";

const read = (text: string) => readXml(text, ["a", "other"], "X");
const nested = (depth: number) => `<a>${"<b>".repeat(depth)}${"</b>".repeat(depth)}</a>`;

test("elements, attributes and texts are read with their references replaced", async () => {
  const root = await read(
    '<?xml version="1.0" encoding="utf-8"?><a id="1" n="&amp;&#x41;"><b>x</b><c/><b k="007"> 0x10 &lt;</b></a>',
  );
  expect(root.attributes).toEqual({ id: "1", n: "&A" });
  expect(root.all("b").map(({ text, attributes }) => [text, attributes])).toEqual([
    ["x", {}],
    ["0x10 <", { k: "007" }],
  ]);
  expect(root.first("c")?.text).toBe("");
  expect(root.first("d")).toBeUndefined();
});

describe("elements are found", () => {
  test.each([
    ["between processing instructions with a quote", `<a><?x " ?><b/><?x " ?><?x ' ?><b/><?x ' ?></a>`],
    ["between comments with a quote", `<a><!-- " --><b/><!-- " --><b/></a>`],
    ["after a value like the end of a tag or comment", `<a n="/>" m="-->"><b/><b/></a>`],
    ["after a text like a processing instruction", "<a>?&gt;<b/>&lt;?<b/></a>"],
    ["after CDATA with markup", "<a><![CDATA[<?x ]> <b> ]]><b/><b/></a>"],
  ])("%s", async (_, text) => {
    expect((await read(text)).all("b")).toHaveLength(2);
  });
});

test("elements can be nested 64 deep", async () => {
  expect((await read(nested(64))).all("b")).toHaveLength(1);
  await expect(read(nested(65))).rejects.toThrow("X is not XML: its elements are nested deeper than 64");
});

test("names of Object.prototype are not elements", async () => {
  const root = await read("<a><b/></a>");
  expect([...root.all("constructor"), ...root.all("hasOwnProperty"), ...root.all("#text")]).toEqual([]);
});

describe("a document is refused if it", () => {
  test.each([
    [
      "has a document type",
      '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
      "X has a document type, expected none",
    ],
    ["has an internal subset", '<!DOCTYPE a [<!ENTITY b "c">]><a/>', "X has a document type, expected none"],
    ["has a document type in small letters", "<!doctype a><a/>", "X is not XML: 1:9: incorrect syntax"],
    ["declares an entity", '<a><!ENTITY b "c"></a>', "X is not XML: 1:12: incorrect syntax"],
    ["uses an entity without declaring it", "<a>&b;</a>", "X is not XML: 1:6: undefined entity"],
    [
      "uses a member of Object.prototype as an entity",
      "<a>&toString;</a>",
      "X is not XML: 1:13: undefined entity",
    ],
    ["has another root", "<b/>", "X has no element a or other"],
    ["has two roots", "<a/><a/>", /^X is not XML: 1:\d+: documents may contain only one root$/],
    ["is empty", "", "X is not XML: 1:0: document must contain a root element"],
    ["does not end", "<a>\n<b>", /^X is not XML: 2:3: unclosed tag: b$/],
    ["ends something else", "<a></b>", /^X is not XML: 1:7: /],
    ["has text outside of its root", "x<a/>", /^X is not XML: 1:\d: text data outside of root node$/],
    ["has an attribute twice", '<a b="1" b="2"/>', /^X is not XML: 1:\d+: duplicate attribute: b$/],
    ["has -- in a comment", "<a><!-- -- --></a>", "X is not XML: 1:11: malformed comment"],
    ["has a control character", "<a>\u0001</a>", "X is not XML: 1:4: disallowed character"],
    ["refers to a control character", "<a>&#1;</a>", /^X is not XML: 1:\d: malformed character entity$/],
    ["has < in a value", '<a b="<"/>', /^X is not XML: 1:\d+: disallowed character$/],
    ["declares XML in its middle", '<a><?xml version="1.0"?></a>', /^X is not XML: 1:/],
    ["is XML 1.1", '<?xml version="1.1"?><a/>', "X is XML 1.1 in UTF-8, expected XML 1.0 in UTF-8"],
    [
      "has an encoding that hides markup from a reader of UTF-8",
      '<?xml version="1.0" encoding="UTF-7"?><a>+ADw-b/+AD4-</a>',
      "X is XML 1.0 in UTF-7, expected XML 1.0 in UTF-8",
    ],
    ["is nested without end", nested(10_000), /^X is not XML: its elements are nested deeper than 64$/],
  ])("%s", async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });
});

describe("a plain document is refused if it has", () => {
  test.each([
    ["<a><!-- b --></a>", "a comment"],
    ["<a><?b c?></a>", "the processing instruction b"],
    ["<a><![CDATA[b]]></a>", "a CDATA section"],
    ["<a><x:b/></a>", "the prefix of x:b"],
    ['<a x:b=""/>', "the prefix of x:b"],
  ])("%s", async (text, found) => {
    await expect(readXml(text, ["a"], "X", { isPlain: true })).rejects.toThrow(
      `X has ${found}, expected only elements and text`,
    );
    expect(await read(text)).toBeDefined();
  });
});
