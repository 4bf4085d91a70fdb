import { expect, test } from "vitest";
import { parseYaml } from "../../pipeline/project/yaml.ts";
import { parseJson } from "../../shared/json.ts";
import { jsonAuthority, refused, verdictOf, yamlAuthority } from "./reference-readers.ts";

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
