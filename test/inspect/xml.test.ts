import { describe, expect, test } from "vitest";
import { readXml } from "../../pipeline/inspect/bytes/xml.ts";

const read = (text: string) => readXml(text, ["a", "other"], "X");

test("elements, attributes and texts are read unchanged", async () => {
  const root = await read(
    '<?xml version="1.0"?><a id="1" n="&amp;"><b>x</b><c/><b k="007"> 0x10 &lt;</b></a>',
  );
  expect(root.attributes).toEqual({ id: "1", n: "&amp;" });
  expect(root.all("b").map(({ text, attributes }) => [text, attributes])).toEqual([
    ["x", {}],
    ["0x10 &lt;", { k: "007" }],
  ]);
  expect(root.first("c")?.text).toBe("");
  expect(root.first("d")).toBeUndefined();
});

test("names of Object.prototype are not elements", async () => {
  const root = await read("<a><b/></a>");
  expect([...root.all("constructor"), ...root.all("hasOwnProperty"), ...root.all("#text")]).toEqual([]);
});

describe("a document is refused if it", () => {
  const nested = (depth: number) => `<a>${"<b>".repeat(depth)}${"</b>".repeat(depth)}</a>`;
  test.each([
    [
      "has a document type",
      '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
      "X has a document type, expected none",
    ],
    ["has a document type in small letters", "<!doctype a><a/>", "X has a document type, expected none"],
    ["declares an entity", '<a><!ENTITY b "c"></a>', "X has a document type, expected none"],
    ["has another root", "<b/>", "X has no element a or other"],
    ["is empty", "", /^X (?:is not XML|has no element)/],
    ["does not end", "<a><b>", /^X is not XML/],
    ["ends something else", "<a></b>", /^X is not XML/],
    ["is nested without end", nested(10_000), /^X is not XML/],
    ["means to change all objects", "<a><__proto__><b/></__proto__></a>", /^X is not XML/],
  ])("%s", async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });
});
