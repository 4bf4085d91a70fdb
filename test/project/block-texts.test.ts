import { expect, test } from "vitest";
import { withoutBlockTexts } from "../../pipeline/project/yaml.ts";

const left: [string, string, string][] = [
  ["the text of a key", "a: >-\n  'b\n\n    *c*\n  #d\ne: f\n", "a: >-\ne: f\n"],
  ["the text of a list's item", "a:\n- |\n 'b\n- >- \n  *c\n", "a:\n- |\n- >- "],
  ["the text of a key in a list", "- - a: |-\n     'b\n    c: d", "- - a: |-\n    c: d"],
  ["nothing of an empty one", "a: |\n'b: c\n", "a: |\n'b: c\n"],
  ["a text that is indented less than its first line", "a: |\n    b\n  'c\n", "a: |\n  'c\n"],
];

test.each(left)("the scan skips %s", (_, text, rest) => {
  expect(withoutBlockTexts(text)).toBe(rest);
});

/** Each is followed by `b: >-` and a line that could be its text. */
const uncertain = [
  "a: text\n  ",
  "a: [c,\n",
  "a: {c: d\n",
  "text\n",
  "? a\n",
  "'a': c\n",
  "a: |+\n  c\n ",
  "a b: |\n  ",
];

test.each(uncertain)("the scan skips nothing after %j", (before) => {
  const text = `${before}b: >-\n      'c\n`;
  expect(withoutBlockTexts(text)).toBe(text);
});

test.each(["|2", "|+", ">1-", "> # b", ">#b", "&a |", "!t >"])(
  "the scan skips nothing after the header %j",
  (header) => {
    const text = `a: ${header}\n    'c\n`;
    expect(withoutBlockTexts(text)).toBe(text);
  },
);
