import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outputSchemaText } from "../../cli/output/output-schema.ts";
import { controllerOpenApiText } from "../../controller/server/documentation.ts";
import { documentSchemas, jsonSchemaText, type SchemaName } from "../../pipeline/documents/schemas.ts";
import { catalogOpenApiText } from "../../service/catalog/openapi.ts";
import { often } from "../support/effort.ts";
import { repository } from "../support/run.ts";
import { examples } from "./examples.ts";
import { mutated } from "./mutations.ts";

const names = Object.keys(documentSchemas) as SchemaName[];
// Formats are annotations in draft 2020-12; patterns check dates.
const ajv = new Ajv2020({ strict: true, validateFormats: false, allErrors: false });
const validators = new Map(names.map((name) => [name, ajv.compile(JSON.parse(jsonSchemaText(name)))]));

test("schemas/ is equal to the output of `npm run schemas`", () => {
  const folder = join(repository, "schemas");
  const schemas = readdirSync(folder).filter((file) => file.endsWith(".schema.json"));
  expect(schemas.sort()).toEqual([...names, "output"].map((name) => `${name}.schema.json`).sort());
  for (const name of names) {
    expect(readFileSync(join(folder, `${name}.schema.json`), "utf8"), name).toBe(jsonSchemaText(name));
  }
  expect(readFileSync(join(folder, "output.schema.json"), "utf8")).toBe(outputSchemaText());
});

test.each([
  ["catalog", catalogOpenApiText],
  ["controller", controllerOpenApiText],
])("the description of the %s's API is generated from its routes and schemas", (name, text) => {
  expect(readFileSync(join(repository, `schemas/${name}.openapi.json`), "utf8")).toBe(text());
});

/** JSON Schema 2020-12, section 6.4: characters, classes, quantifiers, anchors, groups; and escaped punctuation. */
const portable =
  /^(?:\[\^?(?:[^\]\\]|\\[^\p{L}\p{N}])+\]|\\[^\p{L}\p{N}]|[?*+]\??|\{\d+(?:,\d*)?\}\??|[\^$|)]|\((?!\?)|[^\\[\](){}?*+|.^$])*$/u;

test("Python, Go and Java read every published pattern in the same way", () => {
  const folder = join(repository, "schemas");
  const patterns = readdirSync(folder).flatMap((file) =>
    patternsOf(JSON.parse(readFileSync(join(folder, file), "utf8"))),
  );
  expect(patterns.length).toBeGreaterThan(100);
  expect(patterns.filter((pattern) => !portable.test(pattern))).toEqual([]);
  for (const wrong of ["\\d", "(?:a)", "(?!a)", "\\p{Cc}", "[\\d]", "a.b"])
    expect(portable.test(wrong)).toBe(false);
});

function patternsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "pattern" && typeof member === "string" ? [member] : patternsOf(member),
  );
}

test("each schema has its draft and its own id", () => {
  const heads = names.map((name) => JSON.parse(jsonSchemaText(name)));
  expect(heads.map((schema) => schema.$id)).toEqual(names.map((name) => `urn:relcat:schema:${name}:1`));
  for (const schema of heads) expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
});

test("every document has examples", () => {
  expect(Object.keys(examples).sort()).toEqual([...names].sort());
});

const both = (name: SchemaName, value: unknown) => ({
  zod: documentSchemas[name].safeParse(value).success,
  schema: validators.get(name)?.(value) ?? null,
});

describe.each(names)("%s: zod and its JSON Schema agree", (name) => {
  test("about valid documents", () => {
    for (const value of examples[name]) {
      expect(both(name, value), JSON.stringify(value)).toEqual({ zod: true, schema: true });
    }
  });

  test("about damaged documents", () => {
    let refused = 0;
    fc.assert(
      fc.property(mutated(examples[name]), (value) => {
        const { zod, schema } = both(name, value);
        if (!zod) refused++;
        expect(schema, JSON.stringify(value)).toBe(zod);
      }),
      { numRuns: often(1500, 200) },
    );
    expect(refused).toBeGreaterThan(often(300, 40));
  });
});

test("an id in an address of the catalog is a number, as in its record", () => {
  const { paths, components } = JSON.parse(catalogOpenApiText());
  const ids = Object.entries<{
    get: { parameters: { in: string; name: string; schema: { type: string } }[] };
  }>(paths)
    .filter(([path]) => path.includes("{id}"))
    .flatMap(([, { get }]) => get.parameters.filter((each) => each.in === "path" && each.name === "id"));
  expect(ids.map(({ schema }) => schema.type)).toEqual(["integer", "integer"]);
  expect(components.schemas.Package.properties.id.type).toBe("integer");
});
