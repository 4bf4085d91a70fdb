import { expect, test } from "vitest";
import { saidOf } from "./complaint.ts";

const said = (text: string) => saidOf("json", text);
const invalid = (what: string) => `json-syntax not valid JSON: ${what}`;

/** What is wrong, the text, what is said. */
const troubles: [string, string, string][] = [
  ["an empty file", "", "1:1 json-syntax the file is empty, expected JSON"],
  ["a file of white space", " \n", "2:1 json-syntax the file is empty, expected JSON"],
  ["an object that ends too early", '{"a": 1,\n"b": 2', "2:7 json-syntax the JSON ends too early"],
  ["a list that ends too early", "[1, 2", "1:6 json-syntax the JSON ends too early"],
  ["text that ends too early", '{"a": "b', `1:7 ${invalid("text without its closing quote")}`],
  ["a line break in text", '{"a": "b\n"}', `1:7 ${invalid("text without its closing quote")}`],
  ["a comma at the end of an object", '{"a": 1,}', `1:9 ${invalid("no key where one is expected")}`],
  ["a comma at the end of a list", "[1,]", `1:4 ${invalid("no value where one is expected")}`],
  ["no comma", '{"a": 1 "b": 2}', `1:9 ${invalid("no comma between two values")}`],
  ["no colon", '{"a" 1}', `1:6 ${invalid("no colon after a key")}`],
  ["single quotes", "{'a': 1}", `1:2 ${invalid("an unknown word")}`],
  ["a bare key", "{a: 1}", `1:2 ${invalid("an unknown word")}`],
  ["a misspelled word", '{"a": True}', `1:7 ${invalid("an unknown word")}`],
  ["NaN", "[NaN]", `1:2 ${invalid("an unknown word")}`],
  ["a leading zero", "[01]", `1:3 ${invalid("no comma between two values")}`],
  ["an unfinished number", "[1.]", `1:2 ${invalid("an incomplete number")}`],
  ["two values", "{} {}", `1:4 ${invalid("more text after the value")}`],
  ["a comment", "[1, // one\n2]", `1:5 ${invalid("a comment")}`],
  ["a block comment", "[1]/* one */", `1:4 ${invalid("a comment")}`],
  ["an unknown escape", '["\\x41"]', `1:2 ${invalid("an unknown escape in text")}`],
  ["an unfinished escape", '["\\u12"]', `1:2 ${invalid("a \\u without four hexadecimal digits")}`],
  ["a control character in text", '["a\u0001"]', `1:2 ${invalid("a control character in text")}`],
  ["a space that JSON does not know", "\u00a0[]", `1:1 ${invalid("an unknown word")}`],
  [
    "a key that stands twice",
    '{"a": 1,\n "a": 2}',
    '2:2 duplicate-key the key "a" stands twice in one object',
  ],
  [
    "a key that stands twice, deep inside",
    '[{"b": {"a": 1, "a": 1}}]',
    '1:17 duplicate-key the key "a" stands twice in one object',
  ],
  [
    "a key that stands twice, once escaped",
    '{"\\u0061": 1, "a": 2}',
    '1:15 duplicate-key the key "a" stands twice in one object',
  ],
  [
    "__proto__ twice",
    '{"__proto__": 1, "__proto__": 2}',
    '1:18 duplicate-key the key "__proto__" stands twice in one object',
  ],
  ["an empty key twice", '{"": 1, "": 2}', '1:9 duplicate-key the key "" stands twice in one object'],
];

test.each(troubles)("%s is reported where it stands", (_, text, expected) => {
  expect(said(text)).toBe(expected);
});

test("what only looks like trouble is read", () => {
  for (const text of [
    '{"a": ":", "b": "{[\\"a\\":"}',
    '[{"a": 1}, {"a": 1}]',
    '{"a": {"a": 1}}',
    '{"1": 0, "constructor": 1}',
    "null",
    '"\\ud800"',
  ]) {
    expect(said(text), text).toBe("nothing");
  }
});
