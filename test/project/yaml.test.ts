import { expect, test } from "vitest";
import { z } from "zod";
import { readDocument } from "../../pipeline/project/document.ts";
import { problemIn } from "./complaint.ts";

const said = (text: string) => problemIn("yaml", text);

/** Title, text, message. */
const troubles: [string, string, string][] = [
  [
    "a repeated key",
    "a: 1\nb: 2\na: 3",
    '3:1 duplicate-key the key "a" occurs twice in one object, first at line 1, column 1',
  ],
  [
    "a repeated key in flow style",
    "{ a: 1, 'a': 2 }",
    '1:9 duplicate-key the key "a" occurs twice in one object, first at line 1, column 3',
  ],
  [
    "a repeated key, spelled differently",
    'a: 1\n"\\x61": 2',
    '2:1 duplicate-key the key "a" occurs twice in one object, first at line 1, column 1',
  ],
  [
    "__proto__ twice",
    "__proto__: 1\n__proto__: 2",
    '2:1 duplicate-key the key "__proto__" occurs twice in one object, first at line 1, column 1',
  ],
  ["a merge key", "a: &a { b: 1 }\nc:\n  <<: *a", "3:3 yaml-syntax merge keys (<<) are not part of YAML 1.2"],
  ["a number as key", "a:\n  11: KVM", "2:3 key-not-text a key is the bare 11, expected text"],
  ["a version as key", "22.10: x", "1:1 key-not-text a key is the bare 22.10, expected text"],
  ["true as key", "true: x", "1:1 key-not-text a key is the bare true, expected text"],
  ["null as key", "~: x", "1:1 key-not-text a key is the bare ~, expected text"],
  ["no key", "a: 1\n: x", "2:1 key-not-text a key is not text, expected text"],
  ["a list as key", "[a, b]: x", "1:1 key-not-text a key is not text, expected text"],
  ["an object as key", "? { a: 1 }\n: x", "1:3 key-not-text a key is not text, expected text"],
  ["an alias as key", "a: &a x\n*a : y", "2:1 key-not-text a key is not text, expected text"],
  ["a tab as indentation", "a:\n\tb: 1", "2:1 yaml-syntax a tab is used as indentation"],
  ["an alias without an anchor", "a: *b", "1:4 yaml-syntax the alias *b has no anchor &b before it"],
  ["an anchor after its alias", "a: *b\nb: &b 1", "1:4 yaml-syntax the alias *b has no anchor &b before it"],
  ["a local tag", "a: !thing 1", "1:4 yaml-syntax tags (!) are not supported"],
  ["a binary tag", "a: !!binary aGk=", "1:4 yaml-syntax tags (!) are not supported"],
  ["a tag that YAML knows", "a:\n  - !!str 22.10", "2:5 yaml-syntax tags (!) are not supported"],
  ["a tag on an object", "a: !!map { b: 1 }", "1:4 yaml-syntax tags (!) are not supported"],
  ["two documents", "a: 1\n---\nb: 2", "2:1 yaml-syntax the file contains more than one document"],
  [
    "text after a document's end",
    "a: 1\n...\nb: 2",
    "3:1 yaml-syntax the file contains more than one document",
  ],
  ["an unknown directive", "%TAG x\n---\na: 1", "1:1 yaml-syntax not valid YAML: a line starts with %"],
  ["an open quote", 'a: "b\nc: 1\n', "1:4 yaml-syntax not valid YAML: text without its closing quote"],
  ["an open list", "a: [1, 2\nb: 3\n", "1:4 yaml-syntax not valid YAML: a list without its closing ]"],
  ["a colon in bare text", "a: b: c", "1:4 yaml-syntax not valid YAML: a second colon in one value"],
  ["text and keys side by side", "a: 1\nb\n", '2:1 yaml-syntax not valid YAML: the line is not "key: value"'],
  ["a reserved character", "a: @b", "1:4 yaml-syntax not valid YAML: text starts with @"],
  ["an unknown escape", 'a: "\\d"', "1:5 yaml-syntax not valid YAML: an unknown escape \\d"],
];

test.each(troubles)("%s is reported at its location", (_, text, expected) => {
  expect(said(text)).toBe(expected);
});

/** Common mistakes with their hints. */
const column = "Keys of one object start in the same column, and so do the items of one list.";
const mistakes: [string, string, string][] = [
  [
    "a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> other\n",
    "2:1 a merge conflict is not resolved",
    "Keep one of its two sides, and remove the lines with <<<<<<<, ======= and >>>>>>>.",
  ],
  ["a:\n    b: 1\n  c: 2\n", "3:1 not valid YAML: the indentation does not fit the lines above", column],
  ["- a: 1\n b: 2\n", "2:1 not valid YAML: the indentation does not fit the lines above", column],
  [" a: 1\nb: 2\n", "1:2 not valid YAML: the first key is indented, and later keys are not", column],
  [
    "# Ours\n\n a: 1\nb: 2\n",
    "3:2 not valid YAML: the first key is indented, and later keys are not",
    column,
  ],
  ["a: 1\n- b\n", "2:1 not valid YAML: the indentation does not fit the lines above", column],
  ["a:\n  - x\n - y\n", "3:1 not valid YAML: the indentation does not fit the lines above", column],
  ["a: 1\n  b: 2\n", "1:4 not valid YAML: a value is followed by a line that is indented deeper", column],
  [
    "a: 'b\nc: 1\n",
    "1:4 not valid YAML: text without its closing quote",
    "Close it with ', or use the other kind of quotes where ' is part of the text.",
  ],
  [
    "a: {b: 1\nc: 2\n",
    "1:4 not valid YAML: an object without its closing }",
    "Close it. If it continues over several lines, indent them deeper than its key.",
  ],
  [
    "a: 1\nb 2\nc: 3\n",
    '2:1 not valid YAML: the line is not "key: value"',
    "Write a colon and a space after each key.",
  ],
  ["a:1\nb: 2\n", '1:1 not valid YAML: the line is not "key: value"', "Write a space after the colon."],
  [
    "text: Fix: it\n",
    "1:7 not valid YAML: a second colon in one value",
    'Write text that contains ": " in quotes.',
  ],
  [
    "a: `b`\n",
    "1:4 not valid YAML: text starts with `",
    "Write text that starts with a special character in quotes.",
  ],
  [
    "a: **b** c\n",
    "1:10 not valid YAML: text starts with *",
    "Write text that starts with a special character in quotes.",
  ],
  [
    "a: 'it's'\n",
    "1:8 not valid YAML: text continues after its closing quote",
    "Quote all of it; in single quotes, ' is written ''.",
  ],
  [
    "a: - b\n",
    "1:4 not valid YAML: a list item on the line of its key",
    "Start the list on the next line; write text that starts with a dash in quotes.",
  ],
  [
    "a: >x\n",
    "1:5 not valid YAML: text on the line of > or |",
    "Text after them starts on the next line; write text that begins with them in quotes.",
  ],
  [
    "a: [b: 1, c: d: 2]\n",
    "1:14 not valid YAML: a colon where a comma is expected",
    'Separate the parts of a list or object by commas; write text that contains ": " in quotes.',
  ],
  ["a: [1,,2]\n", "1:7 not valid YAML: a comma with nothing before it", "Remove it."],
  ["a: ]\n", "1:4 not valid YAML: a ] that closes nothing", "Remove it, or quote the text it is part of."],
  [
    'a: "\\d"\n',
    "1:5 not valid YAML: an unknown escape \\d",
    "In double quotes a backslash is written \\\\; in single quotes it is one.",
  ],
  [
    "%x\n---\na: 1\n%y\n",
    "1:1 not valid YAML: a line starts with %",
    "Remove it; write text that starts with % in quotes.",
  ],
];

test.each(mistakes)("%j has a hint", (text, expected, hint) => {
  const { problems } = readDocument({ file: "a.yaml", text }, z.unknown());
  const [first] = problems;
  expect([`${first?.at?.line}:${first?.at?.column} ${first?.message}`, first?.hint]).toEqual([
    expected,
    hint,
  ]);
});

test("unusual but valid YAML is read", () => {
  for (const text of [
    "",
    "# nothing\n",
    "---\na: 1\n...\n",
    '"<<": 1',
    "a: &a [1]\nb: *a",
    "a:\tb",
    "%YAML 1.2\n---\na: 1",
    `a: |\n  ${"- ".repeat(500)}`,
    `# ${"[".repeat(2000)}\na: 1`,
    `a: '${"[{".repeat(2000)}'`,
    "a: yes",
    "a: 0b1",
    "a: 1_000",
  ]) {
    expect(said(text), text).toBe("nothing");
  }
});

test.each([
  ["22.04", "is the number 22.04", '"22.04" (YAML reads 22.04 as a number)'],
  ["26.10", "is the number 26.1", '"26.10" (YAML reads 26.10 as 26.1)'],
  ["1e3", "is the number 1000", '"1e3" (YAML reads 1e3 as 1000)'],
  ["0x10", "is the number 16", '"0x10" (YAML reads 0x10 as 16)'],
  ["0o17", "is the number 15", '"0o17" (YAML reads 0o17 as 15)'],
  ["007", "is the number 7", '"007" (YAML reads 007 as 7)'],
  [".5", "is the number 0.5", '".5" (YAML reads .5 as 0.5)'],
  ["-0", "is the number 0", '"-0" (YAML reads -0 as 0)'],
  ["1e400", "is the number Infinity", '"1e400" (YAML reads 1e400 as Infinity)'],
  [".nan", "is the number NaN", '".nan" (YAML reads .nan as NaN)'],
])("an unquoted %s is not read as text", (spelling, message, hint) => {
  const { problems } = readDocument(
    { file: "a.yaml", text: `a:\n  - ${spelling}` },
    z.object({ a: z.array(z.string()) }),
  );
  expect(problems).toMatchObject([
    {
      code: "unquoted-number",
      message: `a[0] ${message}, expected text`,
      hint: `Quote it: ${hint}.`,
      at: { line: 2, column: 5 },
    },
  ]);
});

test.each(["true", "False", "null", "~", "NULL"])("an unquoted %s is not read as text", async (spelling) => {
  const { z } = await import("zod");
  const { readDocument } = await import("../../pipeline/project/document.ts");
  const { problems } = readDocument({ file: "a.yaml", text: `a: ${spelling}` }, z.object({ a: z.string() }));
  expect(problems).toMatchObject([
    { code: "wrong-type", hint: `If it is meant as text, quote it: "${spelling}".` },
  ]);
});

test("an error inside an alias is located in its anchor", async () => {
  const { z } = await import("zod");
  const { readDocument } = await import("../../pipeline/project/document.ts");
  const text = "a: &a\n  b: 1\nc: *a\n";
  const schema = z.object({ a: z.unknown(), c: z.object({ b: z.string() }) });
  expect(readDocument({ file: "a.yaml", text }, schema).problems).toMatchObject([
    { at: { line: 2, column: 6 } },
  ]);
});
