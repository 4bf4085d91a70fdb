import fc from "fast-check";
import { expect, test } from "vitest";
import type { Note } from "../../pipeline/documents/note.ts";
import type { ReleaseSummary, SiteConfig } from "../../pipeline/documents/published.ts";
import type { Ledger } from "../../pipeline/ledger/ledger.ts";
import { csafFiles, cvss3 } from "../../pipeline/site/csaf.ts";
import { csafFaults } from "../support/csaf-validator.ts";
import { often, seed } from "../support/effort.ts";

/** Documents of random catalogs, and scores of all vectors, are judged by the validator of the BSI. */

const versionOf = (index: number) => `26.08.${String(index + 1).padStart(3, "0")}`;
const cveOf = (number: number) => `CVE-2026-100${number}`;

const drawnText = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 40 }),
  fc.constantFrom(
    "A **bold** one",
    "<b>",
    "<!-- -->",
    "[a]: https://x",
    "- 1\n- 2",
    "```\ncode",
    "| a |\n| - |",
    "&amp;",
  ),
);
const drawnRef = fc.oneof(
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.string({ unit: "binary", minLength: 1, maxLength: 20 }).map((rest) => `https://acme.example/${rest}`),
  fc.constantFrom(
    "NW-1",
    "https://[::1]/[a]",
    "https://exämple.com/ü",
    "http://",
    "https://a/%zz",
    "https://u:[p@a/b",
  ),
);
const drawnNote = fc.record({
  text: drawnText,
  refs: fc.array(drawnRef, { maxLength: 2 }),
  cve: fc.array(fc.nat(2).map(cveOf), { maxLength: 3 }),
  hasId: fc.boolean(),
  severity: fc.constantFrom("low", "critical"),
  cvss: fc.constantFrom(
    undefined,
    "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N",
    "CVSS:3.0/S:C/AV:P/AC:H/PR:L/UI:R/C:H/I:L/A:N/E:P/RC:C/MAV:N",
    "CVSS:3.1/AV:N/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N",
    "CVSS:3.1/AV:Q/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N",
    "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N",
  ),
  affected: fc.oneof(
    fc.constant(undefined),
    fc.nat(7).map((index) => `<${versionOf(index)}`),
    fc.array(fc.nat(8).map(versionOf), { maxLength: 4 }),
  ),
});
const drawnRelease = fc.record({
  isCut: fc.boolean(),
  files: fc.array(
    fc.record({
      isKnown: fc.boolean(),
      isHidden: fc.boolean(),
      isLate: fc.boolean(),
      changes: fc.nat(3),
    }),
    { maxLength: 3 },
  ),
  notes: fc.array(drawnNote, { maxLength: 2 }),
  corrected: fc.option(fc.integer({ min: 1, max: 28 }), { nil: undefined }),
});
type Drawn = typeof drawnRelease extends fc.Arbitrary<infer T> ? T : never;

const normalized = (note: Drawn["notes"][number], id: string): Note => {
  const { text, refs, cve, hasId, severity, cvss, affected } = note;
  return {
    ...{ component: "server", kind: "fix", text, security: true, refs: [...new Set([...refs, ...cve])] },
    ...(hasId && {
      advisory: {
        ...{ id, cve, severity: severity as "low" },
        ...(cvss && { cvss }),
        ...(affected && { affected }),
      },
    }),
  };
};

/** Hours after the start, as a ledger has them. */
const at = (hours: number) => new Date(Date.UTC(2026, 7, 1, hours)).toISOString().replace("Z", "000Z");

/** The ledger and the summaries of releases. Files of one are added at several times, and withdrawn again and again. */
function catalogOf(all: readonly Drawn[]) {
  const entries = new Map<string, object[]>();
  const changes = new Map<number, { event: string; at: string }[]>();
  const releases = all.map(({ isCut, files, notes, corrected }, index): ReleaseSummary => {
    const version = versionOf(index);
    const rows = (isCut ? files : []).map((file, position) => {
      const id = index * 10 + position + 1;
      const list = Array.from({ length: file.changes }, (_, count) => {
        return { event: count % 2 === 0 ? "retract" : "reinstate", at: at(100 + id + count * 30) };
      });
      changes.set(id, list);
      const checksum = file.isKnown ? "a".repeat(64) : "unknown";
      const add = {
        event: "add",
        id,
        file: `f${position}`,
        checksum,
        at: at(index + (file.isLate ? 50 : 0)),
      };
      return { add, retraction: list.at(-1)?.event === "retract" ? {} : null, isHidden: file.isHidden };
    });
    entries.set(version, rows);
    const ids = rows.filter(({ isHidden }) => !isHidden).map(({ add: { id } }) => ({ id }));
    return {
      ...{ version, date: "2026-08-01", summary: null, provisional: false, packages: ids, retracted: [] },
      ...(rows.length > 0 && { releasedAt: rows.map(({ add }) => add.at).sort()[0] }),
      ...(corrected && { corrected: `2026-08-${String(corrected).padStart(2, "0")}` }),
      securityNotes: notes.map((each, number) => normalized(each, `ACME-${index}-${number}`)),
    } as unknown as ReleaseSummary;
  });
  const ledger = {
    ofVersion: (version: string) => entries.get(version) ?? [],
    changesOf: (id: number) => changes.get(id) ?? [],
  } as unknown as Ledger;
  return { releases, ledger };
}

const config = {
  product: "Acme <Tool>",
  baseUrl: "https://exämple.com/a b",
  authority: "example.com",
  brand: { name: "ACME & Söhne" },
  security: { contact: ["mailto:security@example.com", "tel:+1"] },
} as unknown as SiteConfig;

interface Document {
  document: {
    tracking: { id: string; version: string; revision_history: { date: string; number: string }[] };
  };
  vulnerabilities: { cve?: string; product_status: { fixed: string[]; known_affected?: string[] } }[];
}

const documentsOf = (all: readonly Drawn[]): Document[] => {
  const { releases, ledger } = catalogOf(all);
  return [...csafFiles(releases, ledger, config)].map(({ chunks }) =>
    JSON.parse(Buffer.concat([...chunks]).toString()),
  );
};

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
    fc.asyncProperty(fc.array(drawnRelease, { minLength: 1, maxLength: 7 }), async (all) => {
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

test("a document has the same bytes again, and later events move no time of the ledger", () => {
  fc.assert(
    fc.property(fc.array(drawnRelease, { minLength: 1, maxLength: 7 }), fc.nat(6), (all, last) => {
      const before = documentsOf(all);
      expect(documentsOf(all)).toEqual(before);
      const files = all[last]?.files.map((file) => ({ ...file, changes: file.changes + 1 }));
      const after = documentsOf(
        all.map((each, index) => (index === last && files ? { ...each, files } : each)),
      );
      for (const [index, { document }] of before.entries()) {
        const now = after[index]?.document.tracking.revision_history ?? [];
        const times = (list: typeof now) =>
          list.flatMap(({ number, date }) => (number.endsWith(".0.0") ? date : []));
        expect(times(now)).toEqual(expect.arrayContaining(times(document.tracking.revision_history)));
      }
    }),
    { numRuns: often(5000, 500), seed },
  );
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
