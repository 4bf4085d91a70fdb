import * as mandatory from "@secvisogram/csaf-validator-lib/mandatoryTests.js";
import * as optional from "@secvisogram/csaf-validator-lib/optionalTests.js";
import * as schema from "@secvisogram/csaf-validator-lib/schemaTests.js";
import validate from "@secvisogram/csaf-validator-lib/validate.js";

/** A CVSS vector is optional. relcat does not know who may read a document, so it has no TLP label. */
const unmet = new Set(["optionalTest_6_2_3", "optionalTest_6_2_10"]);

const tests = Object.entries({ csaf_2_0_strict: schema.csaf_2_0_strict, ...mandatory, ...optional }).flatMap(
  ([name, run]) => (run && !unmet.has(name) ? [{ name, run }] : []),
);

/**
 * Everything that the strict schema, all mandatory and nearly all optional tests of CSAF 2.0 find.
 * @param chosen names of the tests to run
 */
export async function csafFaults(document: unknown, chosen = /./): Promise<string[]> {
  const run = tests.filter(({ name }) => chosen.test(name)).map((each) => each.run);
  const result = await validate(run, document);
  return result.tests.flatMap(({ name, isValid, errors, warnings }) =>
    isValid && errors.length + warnings.length === 0 ? [] : `${name} ${JSON.stringify([errors, warnings])}`,
  );
}

export const csafTests = tests.map(({ name }) => name);
