import fc from "fast-check";

const keys = ["a", "b", "__proto__", "constructor", "", "a:b", '"', "\\", "é", "{", "[", "1"];

/** A key in one of its JSON notations. */
const key = fc
  .tuple(fc.constantFrom(...keys), fc.boolean())
  .map(([text, escaped]) => (escaped ? `"${[...text].map(unicodeEscapes).join("")}"` : JSON.stringify(text)));

const unicodeEscapes = (character: string) =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

const scalar = fc.oneof(
  fc.constantFrom(
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1.5",
    "1e3",
    "-0",
    "1e400",
    '""',
    '":"',
    '"{\\"a\\":1}"',
    '"\\\\"',
    '"\\ud800"',
  ),
  fc.string({ unit: "grapheme", maxLength: 5 }).map((text) => JSON.stringify(text)),
);

const space = fc.constantFrom("", "", " ", "\n", "\t", "\r\n");

/** JSON text with possibly repeated keys. */
const json = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, scalar, tie("list"), tie("object")),
  list: fc
    .tuple(fc.array(tie("value"), { maxLength: 4 }), space)
    .map(([items, gap]) => `[${gap}${items.join(`,${gap}`)}${gap}]`),
  object: fc
    .tuple(fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }), space)
    .map(
      ([members, gap]) =>
        `{${gap}${members.map(([name, value]) => `${name}${gap}:${gap}${value}`).join(",")}${gap}}`,
    ),
})).value as fc.Arbitrary<string>;

const slip = fc.tuple(
  fc.nat(),
  fc.integer({ min: 0, max: 2 }),
  fc.constantFrom("", ",", ":", '"', "{", "}", "[", "]", "\\", "0", " ", "\u0001", "/", "\uFEFF"),
);

const slipped = fc.tuple(json, slip).map(([text, [place, drop, insert]]) => {
  const at = place % (text.length + 1);
  return text.slice(0, at) + insert + text.slice(at + drop);
});

/** JSON, some of it broken. */
export const jsonText = fc.oneof({ weight: 2, arbitrary: json }, { weight: 1, arbitrary: slipped });
