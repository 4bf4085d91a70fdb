import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { documentSchemas, jsonSchemaText, type SchemaName } from "../../pipeline/documents/schemas.ts";
import { often } from "../support/effort.ts";
import { documents } from "./documents.ts";
import { mutated } from "./mutations.ts";

const ajv = new Ajv2020({ strict: true, validateFormats: false });

describe.each(Object.entries(documents))("generated documents: %s", (name, good) => {
  const zod = documentSchemas[name as SchemaName];
  const validate = ajv.compile(JSON.parse(jsonSchemaText(name as SchemaName)));

  test("zod and its JSON Schema accept every combination of valid members", () => {
    fc.assert(
      fc.property(good, (value) => {
        expect(zod.safeParse(value).error?.issues).toBeUndefined();
        expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
      }),
    );
  });

  test("zod and its JSON Schema agree about damaged documents", () => {
    fc.assert(
      fc.property(
        good.chain((value) => mutated([value])),
        (value) => {
          expect(validate(value), JSON.stringify(value)).toBe(zod.safeParse(value).success);
        },
      ),
      { numRuns: often(300, 50) },
    );
  });
});
