import fc from "fast-check";
import { expect, test } from "vitest";
import { cvss3 } from "../../pipeline/site/csaf.ts";
import { type Drawn, documentsOf, drawnCatalog, versionOf } from "../site/random-advisories.ts";
import { csafFaults } from "../support/csaf-validator.ts";
import { often, seed } from "../support/effort.ts";

/** Documents of random catalogs, and scores of all vectors, are judged by the validator of the BSI. */

/** Affected versions, by a definition that shares no code with the program's. */
function affected(all: readonly Drawn[], asked: { cve: string | undefined; id: string }) {
  const hits = all.flatMap(({ notes }, index) =>
    notes.flatMap((each, number) => {
      const isIt = asked.cve
        ? namesOf(each).includes(asked.cve)
        : each.hasId && asked.id === `ACME-${index}-${number}`;
      return isIt ? [{ index, range: (each.hasId && each.affected) || `<${versionOf(index)}` }] : [];
    }),
  );
  const isOut = (index: number) => all[index]?.isCut && (all[index]?.files.length ?? 0) > 0;
  const versions = all.flatMap((_, index) => (isOut(index) ? [{ index, version: versionOf(index) }] : []));
  const isFix = ({ index }: { index: number }) => hits.some((hit) => hit.index === index);
  return {
    fixed: versions.filter(isFix).map(({ version }) => version),
    affected: versions
      .filter((each) => !isFix(each))
      .map(({ version }) => version)
      .filter((version) =>
        hits.some(({ range }) => (Array.isArray(range) ? range.includes(version) : `<${version}` < range)),
      ),
  };
}

const namesOf = ({ cve, refs }: Drawn["notes"][number]) =>
  [...refs, ...cve].flatMap((ref) => [...ref.toUpperCase().matchAll(/CVE-\d{4}-\d{4,}/g)].map(([id]) => id));

test("every document of random catalogs is valid, and says what is affected", async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(drawnCatalog, async (all) => {
      for (const found of documentsOf(all)) {
        count++;
        // Imported files may have no checksum, and then a release has nothing that identifies it.
        expect(await csafFaults(found, /^(?!optionalTest_6_2_16$)/)).toEqual([]);
        const { id } = found.document.tracking;
        for (const { cve, product_status } of found.vulnerabilities) {
          const expected = affected(all, { cve, id });
          expect(product_status.fixed).toEqual(expected.fixed);
          expect(product_status.known_affected ?? []).toEqual(expected.affected);
        }
      }
    }),
    { numRuns: often(5000, 500), seed },
  );
  expect(count).toBeGreaterThan(50);
});

/** All vectors of the base metrics, which have 2,592 combinations. */
function* vectors(version: string): Generator<string> {
  const metrics = ["AV:N AV:A AV:L AV:P", "AC:L AC:H", "PR:N PR:L PR:H", "UI:N UI:R", "S:U S:C"];
  const impacts = ["C", "I", "A"].map((name) => `${name}:H ${name}:L ${name}:N`);
  let all = [`CVSS:${version}`];
  for (const metric of [...metrics, ...impacts])
    all = all.flatMap((start) => metric.split(" ").map((value) => `${start}/${value}`));
  yield* all;
}

test("the score of every vector is the validator's", async () => {
  const scores = ["3.0", "3.1"].flatMap((version) => [...vectors(version)].map((vector) => cvss3(vector)));
  expect(scores).toHaveLength(2 * 2592);
  // One document has a product for each score.
  const products = scores.map((_, index) => ({ name: `P${index}`, product_id: `P${index}` }));
  const document = {
    document: {
      ...{ category: "csaf_base", csaf_version: "2.0", title: "Scores" },
      publisher: { category: "vendor", name: "Acme", namespace: "https://example.com" },
      tracking: {
        ...{ id: "ACME-1", status: "draft", version: "1" },
        ...{ current_release_date: "2026-08-01T00:00:00Z", initial_release_date: "2026-08-01T00:00:00Z" },
        revision_history: [{ date: "2026-08-01T00:00:00Z", number: "1", summary: "First." }],
      },
    },
    product_tree: { full_product_names: products },
    vulnerabilities: scores.map((cvss_v3, index) => ({ scores: [{ cvss_v3, products: [`P${index}`] }] })),
  };
  expect(await csafFaults(document, /^(?:csaf_2_0_strict|mandatoryTest_6_1_(?:8|9|10))$/)).toEqual([]);
  const wrong = { ...scores[0], baseScore: 1.1 };
  const vulnerabilities = [{ scores: [{ cvss_v3: wrong, products: ["P0"] }] }];
  expect(await csafFaults({ ...document, vulnerabilities }, /6_1_9$/)).toHaveLength(1);
});
