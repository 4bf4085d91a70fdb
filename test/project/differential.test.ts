/** @module-tag long */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseYaml } from "../../pipeline/project/yaml.ts";
import { parseJson } from "../../shared/json.ts";
import { often, seed } from "../support/effort.ts";
import { jsonText } from "./json-texts.ts";
import { jsonAuthority, refused, verdictOf, yamlAuthority } from "./reference-readers.ts";
import { yamlText } from "./yaml-texts.ts";

/** Documents. */
const runs = often(20_000, 4_000);

const sample = (texts: fc.Arbitrary<string>) => fc.sample(texts, { numRuns: runs, seed });

test("any YAML document is accepted and read as the yaml library does", { tags: ["long"] }, () => {
  let accepted = 0;
  for (const text of sample(yamlText)) {
    const verdict = verdictOf(parseYaml, text);
    expect(isDeepStrictEqual(verdict, yamlAuthority(text)), text).toBe(true);
    if (verdict.accepted) accepted++;
  }
  expect(accepted).toBeGreaterThan(runs / 4);
  expect(accepted).toBeLessThan((runs * 3) / 4);
});

test("any JSON text is accepted and read as JSON.parse does, except for duplicate keys", {
  tags: ["long"],
}, () => {
  let accepted = 0;
  let onlyRepeated = 0;
  for (const text of sample(jsonText)) {
    const verdict = verdictOf(parseJson, text);
    expect(isDeepStrictEqual(verdict, jsonAuthority(text)), text).toBe(true);
    if (verdict.accepted) accepted++;
    else if (isJson(text)) onlyRepeated++;
  }
  expect(accepted).toBeGreaterThan(runs / 4);
  expect(onlyRepeated).toBeGreaterThan(runs / 40);
});

test.each(["text:\n#c\n  x\nname: 1\n", "- 'a'b: 0\n", "|1\n a\n", "a: 1e400\n", " ---\n", "...\na"])(
  "%j, on which YAML readers disagree, is read as the yaml library does",
  (text) => {
    expect(verdictOf(parseYaml, text)).toEqual(yamlAuthority(text));
  },
);

test("the reference readers refuse known mistakes", () => {
  expect(yamlAuthority("a: 1\na: 2")).toBe(refused);
  expect(yamlAuthority("11: a")).toBe(refused);
  expect(jsonAuthority('{"a": 1, "\\u0061": 2}')).toBe(refused);
});

test("a key with an escape is equal to the key without, after any other document", () => {
  verdictOf(parseJson, '{"h":[],"\\\\":0}');
  expect(parseJson('{"h":1,"\\"":2}').value).toEqual({ h: 1, '"': 2 });
});

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
