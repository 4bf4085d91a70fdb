/** @module-tag long */
import { expect, test } from "vitest";
import { often } from "../support/effort.ts";
import { place, problemIn, problemInManifest } from "./complaint.ts";

const deep = 100_000;
const stairs = (line: string, levels: number) =>
  Array.from({ length: levels }, (_, level) => `${" ".repeat(level)}${line}\n`).join("");

/** Style, text and location of the excess level. */
const towers: ["yaml" | "json", string, string, string][] = [
  ["json", "lists", "[".repeat(deep) + "]".repeat(deep), "1:65"],
  ["json", "objects", '{"a":'.repeat(deep), "1:321"],
  ["json", "open lists", "[".repeat(deep), "1:65"],
  ["yaml", "flow lists", "[".repeat(deep) + "]".repeat(deep), "1:65"],
  ["yaml", "open flow lists", "[".repeat(deep), "1:65"],
  ["yaml", "flow objects", "{a: ".repeat(deep), "1:257"],
  ["yaml", "single pairs in flow lists", `${"[a: ".repeat(40)}1${"]".repeat(40)}`, "1:129"],
  ["yaml", "block lists in a line", `${"- ".repeat(deep)}a`, "1:129"],
  ["yaml", "explicit keys in a line", `${"? ".repeat(deep)}a`, "1:129"],
  ["yaml", "block lists by indentation", stairs("-", 1000), "65:65"],
  ["yaml", "objects by indentation", stairs("a:", 1000), "65:65"],
  ["yaml", "lists in an object", `a:\n${stairs("-", 1000)}`, "65:64"],
  ["yaml", "flow lists after an anchor", `a: &a 1\nb: ${"[".repeat(deep)}`, "2:67"],
  [
    "yaml",
    "flow lists after many brackets in text",
    `a: "${"[".repeat(deep)}"\nb: ${"[".repeat(deep)}`,
    "2:67",
  ],
];

test.each(towers)("%s: thousands of levels of %s are reported at the limit", (format, _, text, at) => {
  expect(place(problemIn(format, text))).toBe(`${at} nesting-depth`);
});

test("sixty-four levels are read", () => {
  const lists = "[".repeat(64) + "]".repeat(64);
  expect([
    problemIn("json", lists),
    problemIn("yaml", lists),
    problemIn("yaml", `${"- ".repeat(64)}a`),
    problemIn("yaml", stairs("a:", 64)),
  ]).toEqual(["nothing", "nothing", "nothing", "nothing"]);
  expect(place(problemIn("json", `[${lists}]`))).toBe("1:65 nesting-depth");
});

test("levels of aliases are counted", () => {
  const half = (name: string, inside: string) =>
    `${name}: &${name} ${"[".repeat(40)}${inside}${"]".repeat(40)}\n`;
  expect(place(problemIn("yaml", half("a", "1") + half("b", "*a")))).toBe("1:30 nesting-depth");
});

test("an anchor inside itself has endless levels", () => {
  expect(place(problemIn("yaml", "a: &a [*a]"))).toBe("1:8 nesting-depth");
});

/** Nine anchors, each with nine aliases of the one before (billion laughs). */
const laughs = `a: &a [${"ha, ".repeat(9)}]\n${[..."bcdefghi"]
  .map((name, index) => `${name}: &${name} [${`*${"abcdefgh"[index]}, `.repeat(9)}]\n`)
  .join("")}`;

test.each([
  ["a billion laughs", laughs, "2:8"],
  ["an anchor used ten thousand times", `a: &a [1]\nb:\n${"  - *a\n".repeat(10_000)}`, "3:5"],
  [
    "a long anchor used a hundred times",
    `a: &a [${"1, ".repeat(often(300_000, 30_000))}]\nb:\n${"  - *a\n".repeat(99)}`,
    "3:5",
  ],
])("%s is reported at its first alias", (_, text, at) => {
  expect(place(problemIn("yaml", text))).toBe(`${at} alias-expansion`);
});

const megabyte = 1024 * 1024;

test("ten megabytes are refused unread", () => {
  const said = (format: "yaml" | "json", bytes: number) =>
    problemInManifest(format, Buffer.alloc(bytes, " "));
  expect(said("json", 10 * megabyte)).toBe(
    "1:1 file-size the file has 10485760 bytes, expected at most 4194304",
  );
  expect(said("yaml", 10 * megabyte)).toBe(
    "1:1 file-size the file has 10485760 bytes, expected at most 1048576",
  );
});

/** Content for a file of the maximum size; outside .ci/nightly, of a quarter of it where the size is not the fault. */
const fillings: ["yaml" | "json", string, string, string][] = [
  ["yaml", "closing brackets", "]", "1:1 yaml-syntax"],
  ["yaml", "brackets that do not fit", "[}", "1:1 yaml-syntax"],
  ["yaml", "commas in lists", "[,]", "1:2 yaml-syntax"],
  ["yaml", "directives", "%a\n", "1:1 yaml-syntax"],
  ["yaml", "tags", "- !a x\n", "1:3 yaml-syntax"],
  ["yaml", "open quotes", "a: 'b\n", "1:4 yaml-syntax"],
  ["yaml", "document markers", "---\n", "2:1 yaml-syntax"],
  ["yaml", "one key again and again", "a: 1\n", "2:1 duplicate-key"],
  ["yaml", "aliases", "- *a\n", "1:3 yaml-syntax"],
  ["yaml", "line breaks", "\n", "1:1 wrong-type"],
  ["yaml", "numbers in a list", "- 1\n", "1:1 file-size"],
  ["json", "quotes", '"', "1:3 json-syntax"],
  ["json", "backslashes in text", '"\\', "1:1 json-syntax"],
  ["json", "colons", ":", "1:1 json-syntax"],
  ["json", "comments", "//\n", "1:1 json-syntax"],
];

test.each(fillings)(
  "a large %s file of only %s is refused quickly",
  { tags: ["long"] },
  (format, _, filling, expected) => {
    const whole = (format === "json" ? 4 : 1) * megabyte;
    const size = expected.endsWith("file-size") ? whole : often(whole, whole / 4);
    expect(place(problemInManifest(format, filling.repeat(size / filling.length)))).toBe(expected);
  },
);

test("a large list of empty objects is refused for its size", () => {
  const text = `{"release": "26.08.001", "artifacts": [${"{},".repeat(megabyte)}{}]}`;
  expect(problemInManifest("json", text)).toBe(
    "1:1 file-size the file contains more than 250000 values, expected fewer",
  );
});

test("a large object of unknown keys is refused for the first of them", { tags: ["long"] }, () => {
  const keys = Array.from({ length: 80_000 }, (_, index) => `key${index}: 1\n`).join("");
  expect(problemInManifest("yaml", `release: 26.08.001\nartifacts: []\n${keys}`)).toBe(
    '3:1 unknown-key the key "key0" is not known',
  );
});
