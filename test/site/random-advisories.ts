import fc from "fast-check";
import type { Note } from "../../pipeline/documents/note.ts";
import type { ReleaseSummary, SiteConfig } from "../../pipeline/documents/published.ts";
import type { Ledger } from "../../pipeline/ledger/ledger.ts";
import { csafFiles } from "../../pipeline/site/csaf.ts";

/** Random catalogs and their advisories. */

export const versionOf = (index: number) => `26.08.${String(index + 1).padStart(3, "0")}`;
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
export type Drawn = typeof drawnRelease extends fc.Arbitrary<infer T> ? T : never;

export const drawnCatalog = fc.array(drawnRelease, { minLength: 1, maxLength: 7 });

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

export const documentsOf = (all: readonly Drawn[]): Document[] => {
  const { releases, ledger } = catalogOf(all);
  return [...csafFiles(releases, ledger, config)].map(({ chunks }) =>
    JSON.parse(Buffer.concat([...chunks]).toString()),
  );
};
