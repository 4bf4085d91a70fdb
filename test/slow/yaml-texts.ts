import fc from "fast-check";
import { type DocumentOptions, type SchemaOptions, stringify, type ToStringOptions } from "yaml";

/** Texts that some YAML readers do not read as text. */
const treacherous = [
  ..."~ null Null NULL true True yes no on off y n 0 -0 +1 007 0o17 0x1F 0b1 1_000 22.04 26.10 1. .5 . 1e3 1E+3 1e400 -1e-400 .inf -.Inf .nan 12345678901234567890 2026-08-19 12:30:45 = << < > | - -- --- ... ? : , [ ] { } # & * ! % @ ` ' \" \\ a:b a: :a a#b #a".split(
    " ",
  ),
  "",
  " ",
  " a",
  "a ",
  "a: b",
  "a #b",
  "- a",
  "? a",
  "a\nb",
  "a\n\nb\n",
  "\na",
  "a\n ",
  "a\n  b\n c",
  "\n\n",
  "a\tb",
  "\ta",
  "é",
  "🎉",
  "\u0085",
  "\u2028",
  "\u00a0a",
  "\uFEFF",
  "x".repeat(100),
  "word ".repeat(30),
  "key: value # note",
  "it's",
  "a 'b' c",
  'a "b" c: d',
  "an *emphasis*, a **strong** one",
  "100 % & more! x & y",
  "a\n*b*\n'c'\n",
  "- 'a'\n- *b*",
  "__proto__",
];

const keys = [
  "release",
  "artifacts",
  "name",
  "sha256",
  "min_os_version",
  "notes",
  "text",
  "a b",
  "",
  "1",
  "true",
  "a: b",
  "-",
  "__proto__",
];

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...treacherous) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom(..."a1 \n:-#,.[]{}'\"\\?|>~+eEx0_"), { maxLength: 10 })
      .map((each) => each.join("")),
  },
);

const scalar = fc.oneof(text, fc.constantFrom(null, true, false, 0, 1, -1, 1.5, 1e21, 1e-7, 2 ** 53));

/** Values shaped like documents: objects of lists of objects, three or four levels of them. */
const documentValue = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, scalar, tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  object: fc.dictionary(fc.constantFrom(...keys), tie("value"), { maxKeys: 4, noNullPrototype: true }),
})).value;

const style: fc.Arbitrary<DocumentOptions & SchemaOptions & ToStringOptions> = fc.record({
  indent: fc.integer({ min: 1, max: 4 }),
  indentSeq: fc.boolean(),
  lineWidth: fc.constantFrom(0, 20, 80),
  minContentWidth: fc.constantFrom(0, 20),
  defaultStringType: fc.constantFrom<NonNullable<ToStringOptions["defaultStringType"]>>(
    "PLAIN",
    "QUOTE_DOUBLE",
    "QUOTE_SINGLE",
    "BLOCK_LITERAL",
    "BLOCK_FOLDED",
  ),
  collectionStyle: fc.constantFrom<"any" | "block" | "flow">("any", "block", "flow"),
  nullStr: fc.constantFrom("null", "~", ""),
  singleQuote: fc.constantFrom<boolean | null>(true, false, null),
  simpleKeys: fc.constant(false),
});

const printed = fc.tuple(documentValue, style).map(([value, options]) => stringify(value, options));

/** One mistake of typing or of a merge. */
const slip = fc.record({
  at: fc.nat(),
  drop: fc.integer({ min: 0, max: 3 }),
  insert: fc.oneof(
    fc.constantFrom(
      "",
      " ",
      "\n",
      "  ",
      ":",
      ": ",
      "- ",
      "#",
      " #",
      '"',
      "'",
      "[",
      "]",
      "{",
      "}",
      ",",
      "?",
      "|",
      ">",
      "0",
      "~",
    ),
    text,
  ),
});

const withSlips = (documents: fc.Arbitrary<string>) =>
  fc.tuple(documents, fc.array(slip, { minLength: 1, maxLength: 3 })).map(([document, slips]) =>
    slips.reduce((result, { at, drop, insert }) => {
      const offset = at % (result.length + 1);
      return result.slice(0, offset) + insert + result.slice(offset + drop);
    }, document),
  );

/** Lines of documents in another order, with other indentation, or repeated. */
const shuffled = fc
  .tuple(printed, fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 0, max: 3 })), { maxLength: 4 }))
  .map(([document, moves]) => {
    const lines = document.split("\n");
    for (const [from, to, indent] of moves) {
      const line = " ".repeat(indent) + (lines[from % lines.length] ?? "");
      lines.splice(to % (lines.length + 1), 0, line);
    }
    return lines.join("\n");
  });

const pieces = (
  "a: 1|a:|b: x|c: [1, 2]|d: {e: f}|- x|- a: 1|-|- - 1|text|text: >|t: >-|#c|# c|#||x # y|x #y|k: v # c|k: #c|? a|: b|k: 'q'|" +
  "k: \"q\"|- 'q'|k: [|]|k: {|}|1,|a: 1,|http://x:80/a#b|a:b|22.04|null|k: - a|k: a: b|- ? a|- # c|[a, b]: c|{a: b}|k: ~|a : b|" +
  "k: a  |-  a|k: {a:b}|k: [a: b]|k: [a, ,b]|k: [a] b|k: {a}|k: ]|k: #|-a|?a|:a|k: a #b c|k: a# b|@x|---|..."
).split("|");

/** Random combinations of plausible lines. */
const patched = fc
  .array(fc.tuple(fc.constantFrom(0, 0, 1, 2, 2, 4), fc.constantFrom(...pieces, "t: |", "- |", "t: |-")), {
    minLength: 1,
    maxLength: 8,
  })
  .map((lines) => lines.map(([indent, piece]) => `${" ".repeat(indent)}${piece}\n`).join(""));

/** Text with a special meaning everywhere except in a block text. */
const opaque = (
  "'~\"~'a' b~*b*~*~&a~!t~%~#~#x~# x~- a~- 'a'~- *b~- >-~k: v~k: *v~k: 'v~k: >-~k: |~a: [b~{~]~}~| 27~|2~>+~---~...~<<~<<: a~@~" +
  "1e400~x 1e400~? a~: b~a #b~a #  b~text~more text~a: b: c~a\\~  'a'~ a ~\u00a0~__proto__: 1~,~"
).split("~");
const opaqueLines = fc.array(fc.constantFrom(...opaque), { minLength: 1, maxLength: 4 });

/** Valid documents with block texts in lists and maps. */
const inBlocks = fc
  .tuple(
    fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        opaqueLines.map((lines) => lines.join("\n")),
        fc.array(tie("value"), { minLength: 1, maxLength: 3 }),
        fc.dictionary(fc.constantFrom("k", "notes", "a b", "- a"), tie("value"), { minKeys: 1, maxKeys: 3 }),
      ),
    })).value,
    style,
    fc.constantFrom("BLOCK_LITERAL" as const, "BLOCK_FOLDED" as const),
  )
  .map(([value, options, defaultStringType]) =>
    stringify(value, { ...options, defaultStringType, defaultKeyType: "PLAIN", collectionStyle: "block" }),
  );

const headers = (
  "k: >-~k: |-~k: >~k: |~- >-~- |~- k: |-~- k: >-~- - >-~k:   >-~k: >- ~-  |-~- -   k: >~" +
  "k: >+~k: |2~k: |1-~k: >- # c~k: >-#c~'q': |-~? >-~: |~a b: >-~k: &a >-~k: !t |~>-~|~k:>-~k: - >-~[ >-~k: [ |~- 'a': >"
).split("~");
const linesBefore = "~~~~k:~m:~a: 1~a: b~- x~-~# c~a: [~a: [b,~a: 'b~a: b c~t~k: {a: b,".split("~");

/** A header, perhaps after a line that it continues, and lines below it, some with too little indentation. */
const headed = fc
  .tuple(
    fc.constantFrom(...linesBefore),
    fc.constantFrom(0, 0, 0, 2, 4, 1),
    fc.constantFrom(...headers),
    fc.constantFrom(0, 1, 2, 2, 2, 4),
    fc.array(fc.tuple(fc.constantFrom(0, 0, 0, 0, 0, 1, 2, -1, -2), fc.constantFrom(...opaque)), {
      maxLength: 5,
    }),
  )
  .map(([before, outer, header, depth, lines]) => {
    const inner = outer + depth + (/^[- ]*/.exec(header)?.[0].length ?? 0);
    const body = lines.map(([shift, line]) => `${" ".repeat(Math.max(0, inner + shift))}${line}\n`);
    return [before && `${before}\n`, `${" ".repeat(outer)}${header}\n`, ...body].join("");
  });

/** Block texts with syntax that is special elsewhere: valid, with mistakes, and with wrong headers or indentation. */
const blockTexts = fc.oneof(
  inBlocks,
  withSlips(inBlocks),
  fc.array(headed, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("")),
);

/** Valid documents, and the same with mistakes. */
export const yamlText = fc.oneof(printed, withSlips(printed), shuffled, patched, blockTexts);
