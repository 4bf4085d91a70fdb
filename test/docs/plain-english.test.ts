import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../support/run.ts";
import { messagesIn } from "./messages.ts";

/** Files whose prose was edited. Extend the lists as more files follow; nothing leaves them. */
const guides = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "docs/**/*.md",
  "examples/**/*.md",
];
const scripts = ["docs/ci/**/*.{sh,yml}"];
/** Folders whose comments are checked. */
const sources = ["cli", "controller", "inspect", "pipeline", "service", "shared", "test"];

/** The words to avoid, with those that CONTRIBUTING.md gives instead. */
const avoided: readonly (readonly [RegExp, string])[] = [
  [/\b(somebody|everybody)\b/i, "someone, everyone"],
  [/\bwho(so)?ever\b/i, "anyone who"],
  [/\b(stands?|lies?) (in|at|on|below|above|beside|there|here)\b/i, "is in, is stored in"],
  [/\bjoined of\b/i, "assembled from"],
  [/\b(is|are|was|were) told\b/i, "is reported, gets"],
  [/\bis no (version|month|filter|shell)\b/i, "is not a"],
  [/\bheld against\b|\bthe way out\b|\banew\b|\bonce more\b/i, "compared with, how to fix it, again"],
  [/\bmend(s|ed)?\b|\ba slip\b|\ball the same\b/i, "repair, a mistake, nevertheless"],
  [/^(What|Whose|Who|Of|By (which|what|whom))\b[^?]*$/, "a subject at the start of the sentence"],
  [/^(Was|Were|Is|Are|Did|Does|Had|Has)\b[^?]*,[^?]*$/, "a condition with if"],
];

/** More words to avoid in the names of tests. A name is a predicate of its group, or a sentence with a subject. */
const avoidedInNames: typeof avoided = [
  ...avoided,
  [/^(what|who|which|where|how)(ever|soever|m|se)?\b/i, "the subject"],
  [/^(of|that|and|but|nor|so|because|than)\b/i, "the subject or the verb"],
  [/\b(anybody|nobody)\b/i, "anyone, no …"],
  [/\b(tells?|told)\b/i, "reports, says"],
  [/\b(is|are) none\b/i, "is not a"],
];

/** More words to avoid in messages, hints and help. */
const avoidedInMessages: typeof avoided = [
  ...avoided,
  [/(?<!\b(?:there|here|where) )\b(is|are) no (?!longer\b)[a-z]/i, "is not a"],
  [/^such as\b/i, "For example:"],
  [/\bat once\b/i, "at the same time, immediately"],
  [/\b(made|make it) (again )?anew\b|\bmakes? anew\b/i, "build again"],
  [/\b(goes|go) (on|with)\b|\bgoing on\b/i, "continues, needs"],
  [/\bany more\b|\bworks? no more\b/i, "no longer"],
  [/\bmeanwhile\b/i, "in the meantime"],
  [/\bof (no )?use (alone|with)\b|\bfor want of\b/i, "has no effect, for lack of"],
  [/\bsays? something else\b|\b(something|anything) else than\b/i, "differs from, other than"],
  [/\btells? (its|their) (publisher|readers)\b/i, "inform"],
  [/\b(not|is) known here\b|\bbreaks off\b/i, "is not supported, ends too early"],
  [/^(what|who|whose|whom|by which)\b[^?]*$/i, "a subject at the start"],
];

/** Paragraphs, list items and table cells, without code, link targets and headings. */
function proseOf(markdown: string): string[] {
  return markdown
    .replace(/^```[\s\S]*?^```$/gm, "\n")
    .replace(/`[^`]*`/g, "CODE")
    .replace(/"[^"\n]*"/g, "QUOTE")
    .replace(/\]\([^)]*\)/g, "]")
    .replace(/^#.*$/gm, "\n")
    .replace(/^\|(.*)\|$/gm, (_, row: string) => `\n${row.split("|").join("\n\n")}\n`)
    .replace(/^\s*(-|\d+\.) /gm, "\n")
    .split(/\n\s*\n/)
    .map((block) =>
      block
        .replace(/\s+/g, " ")
        .replace(/[*_[\]]/g, "")
        .trim(),
    );
}

const lineComment = /^\s*(?:\/\*\*|\*(?!\/)|\/\/)\s?(.*?)(?:\*\/)?$/;

/** Comments that begin with `marker`, joined over their lines. */
const commentsOf = (text: string, marker: RegExp): string[] =>
  text
    .replace(/^#!.*$/m, "")
    .replace(/`[^`]*`/g, "CODE")
    .split("\n")
    .map((line) => marker.exec(line)?.[1] ?? "\n")
    .join(" ")
    .split(/\s*\n\s*/);

/** Text between tags. */
const textsOf = (html: string): string[] =>
  html
    .replace(/\{\{(?=[#/]|else)[^}]*\}\}+/g, "<>")
    .replace(/\{\{[^}]*\}\}+/g, "CODE")
    .split(/<[^>]*>/)
    .map((text) => text.replace(/\s+/g, " ").trim())
    .filter((text) => text.includes(" "));

const sentencesOf = (blocks: readonly string[]) =>
  blocks.flatMap((block) => block.split(/(?<=[.!?:])\s+(?=[A-Z"'])/)).filter((sentence) => sentence !== "");

const faultsOf = (blocks: readonly string[], words = avoided): string[] =>
  sentencesOf(blocks).flatMap((sentence) =>
    words.filter(([word]) => word.test(sentence)).map(([, better]) => `${sentence} → ${better}`),
  );

/** A string with its quotes. */
const quoted = /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/.source;
const namePatterns = [
  new RegExp(`(?:^|[\\s;])(?:test|it|describe)\\(\\s*${quoted}`, "gm"),
  new RegExp(`\\)\\(\\s*${quoted},\\s*(?:\\{[^{}]*\\},\\s*)?(?:async\\s*)?\\(`, "g"),
];

/** Names of tests, groups and `each`. */
const namesIn = (text: string): string[] =>
  namePatterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, name = ""]) => name.slice(1, -1).replace(/`[^`]*`/g, "CODE")),
  );

/** The table of words quotes what it refuses. */
const withoutTheTable = (text: string) => text.replace(/^## Words[\s\S]*/m, "");

const read = (path: string) => readFileSync(join(repository, path), "utf8");
const filesOf = (patterns: readonly string[]) => globSync(patterns, { cwd: repository }).sort();

test.each(filesOf(guides))("%s", (path) => {
  expect(faultsOf(proseOf(withoutTheTable(read(path))))).toEqual([]);
});

test.each(filesOf(scripts))("comments of %s", (path) => {
  expect(faultsOf(commentsOf(read(path), /(?:^|\s)# (.*)$/))).toEqual([]);
});

test.each(sources)("comments of %s/", (folder) => {
  const faults = filesOf([`${folder}/**/*.ts`]).flatMap((path) =>
    faultsOf(commentsOf(read(path), lineComment)).map((fault) => `${path}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

test("names of tests", () => {
  // This file has examples of faults.
  const paths = filesOf(["test/**/*.ts"]).filter((path) => !path.endsWith("plain-english.test.ts"));
  const names = paths.flatMap((path) => namesIn(read(path)).map((name) => ({ path, name })));
  expect(names.length).toBeGreaterThan(2500);
  expect(
    names.flatMap(({ path, name }) => faultsOf([name], avoidedInNames).map((fault) => `${path}: ${fault}`)),
  ).toEqual([]);
});

test.each(["cli", "controller", "inspect", "pipeline", "service", "shared"])("messages of %s/", (folder) => {
  const messages = filesOf([`${folder}/**/*.ts`]).flatMap((path) =>
    messagesIn(read(path)).map((text) => ({ path, text })),
  );
  expect(messages.length).toBeGreaterThan(80);
  expect(
    messages.flatMap(({ path, text }) =>
      faultsOf([text.replace(/\s+/g, " ").trim()], avoidedInMessages).map((fault) => `${path}: ${fault}`),
    ),
  ).toEqual([]);
});

/** Names that say too little, and those to use. Two settings of the controller keep theirs. */
const avoidedIdentifiers =
  /\b(?!mostAccepted\b|mostPending\b)(?:most[A-Z]\w*|least[A-Z]\w*|largest[A-Z]\w*|wayOut|\w+Anew|anew\w*|inWords|worded|askerOf|NotKept|Attention|Occasion|surroundings)\b/g;

test.each(["cli", "controller", "inspect", "pipeline", "service", "shared"])(
  "identifiers of %s/",
  (folder) => {
    const faults = filesOf([`${folder}/**/*.ts`]).flatMap((path) => {
      const code = read(path)
        .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
        .replace(new RegExp(quoted, "g"), "");
      return [...code.matchAll(avoidedIdentifiers)].map(([name]) => `${path}: ${name}`);
    });
    expect(faults).toEqual([]);
  },
);

test("text of the templates", () => {
  const faults = filesOf(["templates/**/*.hbs"]).flatMap((path) =>
    textsOf(read(path)).flatMap((text) =>
      faultsOf([text], avoidedInMessages).map((fault) => `${path}: ${fault}`),
    ),
  );
  expect(faults).toEqual([]);
});

test.each([
  ['fail("it is no site")', ["it is no site → is not a"]],
  ['fail("there is no site")', []],
  [`fail(\`\${name} is no \` + \`longer here\`)`, []],
  [`fail(\`\${name} is no \` + \`folder\`)`, ["CODE is no folder → is not a"]],
  [`say(\`\${all ? "all parts at once" : one}\`)`, ["all parts at once → at the same time, immediately"]],
  ['import x from "whoever is here"; type X = "whoever is here";', []],
  ['// whoever is here\nconst key = "anew";', []],
])("the messages in %j have the faults %j", (source, faults) => {
  expect(messagesIn(source).flatMap((text) => faultsOf([text], avoidedInMessages))).toEqual(faults);
});

test.each([
  ["Restart it. Whoever has the key can sign.", 1],
  ["| key | what lies in the cache |", 1],
  ["- Was the key on it, exchange it.", 1],
  ["Of what is ordered, the last.", 1],
  ["What does `cut` change?", 0],
  ["If the key was on it, replace it.", 0],
  ["`somebody` is a name, and so is\n```\nwhoever\n```\n", 0],
])("%j has %i faults", (text, count) => {
  expect(faultsOf(proseOf(text)).length).toBe(count);
});

test("a comment includes the lines that continue it", () => {
  const text = "/** A lock,\n * which somebody holds. */\nconst lock = 1; // ok\n// What is left.\n";
  expect(faultsOf(commentsOf(text, lineComment)).length).toBe(2);
});

test.each([
  ['test("what is new", () => {', 1],
  ['describe("of a site", () => {', 1],
  ['test.skipIf(!has("x"))("is shown", () => {', 0],
  ['])("%s is told", { tags: ["long"] }, async (text) => {', 2],
  ["test(`whoever signs`, async () => {", 2],
])("the names in %s have %i faults", (text, count) => {
  expect(namesIn(text)).toHaveLength(1);
  expect(namesIn(text).flatMap((name) => faultsOf([name], avoidedInNames))).toHaveLength(count);
});
