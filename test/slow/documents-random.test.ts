import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseYaml } from "../../pipeline/project/yaml.ts";
import { parseJson } from "../../shared/json.ts";
import { jsonAuthority, verdictOf, yamlAuthority } from "../project/reference-readers.ts";
import { often, seed } from "../support/effort.ts";
import { jsonText } from "./json-texts.ts";
import { yamlText } from "./yaml-texts.ts";

/** Documents. */
const runs = often(20_000, 4_000);

const sample = (texts: fc.Arbitrary<string>) => fc.sample(texts, { numRuns: runs, seed });

test("any YAML document is accepted and read as the yaml library does", () => {
  let accepted = 0;
  for (const text of sample(yamlText)) {
    const verdict = verdictOf(parseYaml, text);
    expect(isDeepStrictEqual(verdict, yamlAuthority(text)), text).toBe(true);
    if (verdict.accepted) accepted++;
  }
  expect(accepted).toBeGreaterThan(runs / 4);
  expect(accepted).toBeLessThan((runs * 3) / 4);
});

test("any JSON text is accepted and read as JSON.parse does, except for duplicate keys", () => {
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

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
