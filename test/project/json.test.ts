import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { readDocument } from "../../pipeline/project/document.ts";
import { problemIn } from "./complaint.ts";

const said = (text: string) => problemIn("json", text);
const invalid = (what: string) => `json-syntax not valid JSON: ${what}`;

/** Title, text, message. */
const troubles: [string, string, string][] = [
  ["an empty file", "", "1:1 json-syntax the file is empty, expected JSON"],
  ["a file of white space", " \n", "2:1 json-syntax the file is empty, expected JSON"],
  ["an object that ends too early", '{"a": 1,\n"b": 2', "2:7 json-syntax the JSON ends too early"],
  ["a list that ends too early", "[1, 2", "1:6 json-syntax the JSON ends too early"],
  ["text that ends too early", '{"a": "b', `1:7 ${invalid("text without its closing quote")}`],
  ["a line break in text", '{"a": "b\n"}', `1:7 ${invalid("text without its closing quote")}`],
  ["a comma at the end of an object", '{"a": 1,}', `1:9 ${invalid("a comma before }")}`],
  ["a comma at the end of a list", "[1,]", `1:4 ${invalid("a comma before ]")}`],
  ["no comma", '{"a": 1 "b": 2}', `1:9 ${invalid("no comma between two values")}`],
  ["no colon", '{"a" 1}', `1:6 ${invalid("no colon after a key")}`],
  ["single quotes", "{'a': 1}", `1:2 ${invalid("text in single quotes")}`],
  ["a bare key", "{a: 1}", `1:2 ${invalid("a key without quotes")}`],
  ["a misspelled word", '{"a": True}', `1:7 ${invalid("true in capital letters")}`],
  ["NaN", "[NaN]", `1:2 ${invalid("NaN or Infinity, which JSON does not have")}`],
  ["a leading zero", "[01]", `1:3 ${invalid("a number in a form that JSON does not know")}`],
  ["an unfinished number", "[1.]", `1:2 ${invalid("an incomplete number")}`],
  ["two values", "{} {}", `1:4 ${invalid("more text after the value")}`],
  ["a comment", "[1, // one\n2]", `1:5 ${invalid("a comment")}`],
  ["a block comment", "[1]/* one */", `1:4 ${invalid("a comment")}`],
  ["an unknown escape", '["\\x41"]', `1:3 ${invalid("an unknown escape in text")}`],
  ["an unfinished escape", '["\\u12"]', `1:2 ${invalid("a \\u without four hexadecimal digits")}`],
  ["a control character in text", '["a\u0001"]', `1:4 ${invalid("a control character in text")}`],
  ["a space that JSON does not know", "\u00a0[]", `1:1 ${invalid("an unknown sign")}`],
  [
    "a repeated key",
    '{"a": 1,\n "a": 2}',
    '2:2 duplicate-key the key "a" occurs twice in one object, first at line 1, column 2',
  ],
  [
    "a repeated key, deep inside",
    '[{"b": {"a": 1, "a": 1}}]',
    '1:17 duplicate-key the key "a" occurs twice in one object, first at line 1, column 9',
  ],
  [
    "a repeated key, once escaped",
    '{"\\u0061": 1, "a": 2}',
    '1:15 duplicate-key the key "a" occurs twice in one object, first at line 1, column 2',
  ],
  [
    "__proto__ twice",
    '{"__proto__": 1, "__proto__": 2}',
    '1:18 duplicate-key the key "__proto__" occurs twice in one object, first at line 1, column 2',
  ],
  [
    "an empty key twice",
    '{"": 1, "": 2}',
    '1:9 duplicate-key the key "" occurs twice in one object, first at line 1, column 2',
  ],
];

test.each(troubles)("%s is reported at its location", (_, text, expected) => {
  expect(said(text)).toBe(expected);
});

const comma = "Commas are only allowed between two values: remove it, or write the value.";
const last = "Remove it: commas are only allowed between two values.";
const digits = "Write it in plain digits, such as 4096 or 0.5; write a version or a date in double quotes.";
const noComment = "JSON has none: remove it, or write YAML.";
const leaveOut = "Write null, or remove the key.";
const brackets = "Brackets close in the order they were opened: a [ with ], a { with }.";

test.each([
  ["no value after a colon", '{"release": }', "Write the value after the colon, or remove the key."],
  ["no value before a comma", '{"release": , "a": 1}', "Write the value after the colon, or remove the key."],
  ["a comma at the end of a list", "[1, ]", last],
  ["a comma at the end of an object", '{"a": 1,\n}', last],
  ["two commas in a list", "[1,,2]", comma],
  ["a comma at the beginning", "[,1]", comma],
  ["two commas in an object", '{"a": 1,, "b": 2}', comma],
  ["no comma", '{"a": "b"\n"c": 1}', "Write a comma after the value before it."],
  ["no colon", '{"a" "b"}', 'Write a colon between a key and its value: "key": "value".'],
  ["an equals sign", '{"a" = "b"}', "Write a colon between a key and its value."],
  ["a semicolon", '{"a": 1; "b": 2}', "Write a comma between two values."],
  ["a semicolon after text", '{"a": "b"; "b": 2}', "Write a comma between two values."],
  ["a number as key", "{1: 2}", 'Write it as "1".'],
  ["a bare key", '{"a": 1, file-name: 2}', 'Write it as "file-name".'],
  ["a bare word", '{"a": abc}', 'Write text in double quotes: "abc".'],
  ["single quotes", "{\"a\": 'b'}", "Write text in double quotes."],
  ["typographic quotes", "{“a”: 1}", 'Write text in plain double quotes: ".'],
  [
    "a quote too few",
    '{"a": "b, "c": 1}',
    'Is a quote missing before it? One that belongs to the text is written \\".',
  ],
  ["a // comment", '{"a": 1} // one', noComment],
  ["a # comment", '{"a": 1, # one\n"b": 2}', noComment],
  ["NaN", '{"a": NaN}', leaveOut],
  ["-Infinity", '{"a": -Infinity}', leaveOut],
  ["undefined", '{"a": undefined}', leaveOut],
  ["None", '{"a": None}', leaveOut],
  ["True", '{"a": True}', "Write true."],
  ["FALSE", '{"a": FALSE}', "Write false."],
  ["a hexadecimal number", '{"a": 0x10}', digits],
  ["a leading zero", '{"a": 010}', digits],
  ["a plus sign", '{"a": +1}', digits],
  ["no digit before the point", '{"a": .5}', digits],
  ["a bare version", '{"a": 26.08.001}', digits],
  ["a bare date", '{"a": 2026-08-19}', digits],
  ["a list closed as an object", '{"a": [1}', brackets],
  ["an object closed as a list", '{"a": 1]', brackets],
  ["an empty list closed as an object", '{"a": [}', brackets],
  ["a bracket too many", '{"a": 1}}', "Remove it, or open what it closes."],
  ["three dots", '{"a": [1, ...]}', "Was it copied from shortened output? Write all of it."],
  ["an ellipsis", '{"a": […]}', "Was it copied from shortened output? Write all of it."],
  ["a tab", '{"a": "b\tc"}', "It is written \\t."],
  [
    "a page for logging in",
    "<!DOCTYPE html><title>Log in</title>",
    "Was a page saved instead, such as one for logging in?",
  ],
  ["YAML", "release: 26.08.001\nartifacts: []", "Write JSON, or give the file a name that ends in .yaml."],
  ["messages before it", 'building…\n{"a": 1}', "Did a program write its messages into the same file?"],
  [
    "a template",
    '{"a": {{value}}}',
    "Is it a template whose {{ }} was not filled in? Otherwise write a key before each value.",
  ],
  [
    "a merge conflict",
    '{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> main\n}',
    "Keep one of its two sides, and remove the lines with <<<<<<<, ======= and >>>>>>>.",
  ],
])("%s has a fitting hint", (_, text, hint) => {
  const { problems } = readDocument({ file: "document.json", text }, z.unknown());
  expect(problems.map((problem) => problem.hint)).toEqual([hint]);
});

test("any problem has a location inside the text and a hint", () => {
  const parts = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "'",
    "\\",
    "a",
    "1",
    ".",
    "-",
    "/",
    "#",
    "…",
    " ",
    "\n",
    "\t",
    "null",
    "<",
  ];
  const text = fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((list) => list.join(""));
  fc.assert(
    fc.property(text, (broken) => {
      const { problems } = readDocument({ file: "document.json", text: broken }, z.unknown());
      for (const { code, hint, at } of problems) {
        if (code === "json-syntax") expect(hint).toMatch(/^\S.*[.?]$/);
        const lines = broken.split("\n");
        expect(at?.line).toBeLessThanOrEqual(lines.length);
        expect(at?.column).toBeLessThanOrEqual((lines[(at?.line ?? 1) - 1] ?? "").length + 1);
      }
    }),
    { numRuns: 5000 },
  );
});

test("unusual but valid JSON is read", () => {
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
