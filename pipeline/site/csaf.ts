import type { Advisory, Note } from "../documents/note.ts";
import type { OutputFile, ReleaseSummary, SiteConfig } from "../documents/published.ts";
import { csafPath } from "../documents/site.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Change, Entry } from "../ledger/ledger-records.ts";
import { cveOf, vulnerable } from "../selection/vulnerable.ts";
import { withoutForbidden } from "./escape.ts";
import { jsonFile } from "./output.ts";
import { plainText } from "./plain-text.ts";

/** A release that is cut. */
interface Product extends ReleaseSummary {
  /** Public files with a ledger line, including withdrawn ones. */
  files: Entry[];
}

interface Vulnerability {
  /** undefined: it has no id at the CVE program. */
  cve: string | undefined;
  fixed: Product[];
  affected: Product[];
}

interface Described {
  note: Note;
  advisory: Advisory;
  own: Product;
  vulnerabilities: Vulnerability[];
}

/**
 * A document in CSAF 2.0 for each note with an id, as soon as its release is cut. Members are in the order of the
 * alphabet, which CSAF recommends.
 * @param releases ascending by version
 */
export function* csafFiles(
  releases: readonly ReleaseSummary[],
  ledger: Ledger,
  config: SiteConfig,
): Generator<OutputFile> {
  const products = releases
    .filter(({ releasedAt }) => releasedAt !== undefined)
    .map((release) => ({ ...release, files: publicFiles(release, ledger) }));
  const cut = new Set(products.map(({ version }) => version));
  const candidates = releases.map(({ version, securityNotes = [] }) => {
    return { version, notes: securityNotes, isCut: cut.has(version) };
  });
  const of = (versions: readonly string[]) => products.filter(({ version }) => versions.includes(version));
  for (const own of products)
    for (const note of own.securityNotes ?? []) {
      const { advisory } = note;
      if (!advisory) continue;
      const ids = cveOf(note);
      const vulnerabilities = (ids.length > 0 ? ids : [undefined]).map((cve) => {
        const { fixes = [], versions = [] } = vulnerable(cve ?? advisory.id, candidates) ?? {};
        return { cve, fixed: of(fixes.map(({ version }) => version)), affected: of(versions) };
      });
      const document = csafDocument({ note, advisory, own, vulnerabilities }, ledger, config);
      yield jsonFile(csafPath(advisory.id), document);
    }
}

function publicFiles({ version, packages, retracted }: ReleaseSummary, ledger: Ledger): Entry[] {
  const ids = new Set([...packages, ...retracted].map(({ id }) => id));
  return ledger.ofVersion(version).filter(({ add }) => ids.has(add.id));
}

function csafDocument(described: Described, ledger: Ledger, config: SiteConfig) {
  const { advisory, own, vulnerabilities } = described;
  const { product, baseUrl, brand, authority, security } = config;
  const products = [...new Set(vulnerabilities.flatMap(({ fixed, affected }) => [...affected, ...fixed]))];
  return {
    document: {
      aggregate_severity: { text: advisory.severity },
      category: "csaf_security_advisory",
      csaf_version: "2.0",
      lang: "en",
      publisher: {
        category: "vendor",
        ...(security && { contact_details: security.contact.join(", ") }),
        name: brand.name,
        namespace: `https://${authority}`,
      },
      references: [
        { category: "self", summary: "This document", url: uriOf(`${baseUrl}/${csafPath(advisory.id)}`) },
        { category: "external", summary: `${product} ${own.version}`, url: pageOf(own, config) },
      ],
      title: `${advisory.id}: ${product} ${own.version}`,
      tracking: trackingOf(described, products, ledger),
    },
    product_tree: productTree(products, config),
    vulnerabilities: vulnerabilities.map((each) => vulnerabilityOf(each, described, config)),
  };
}

/**
 * Its revisions have the times of ledger lines, which never change: of those that add a file to the document, and of
 * those that change whether the fix is offered. A correction of notes has its day.
 */
function trackingOf(
  { advisory, own, vulnerabilities }: Described,
  products: readonly Product[],
  ledger: Ledger,
) {
  const first = own.releasedAt ?? "";
  const fixed = vulnerabilities.flatMap((each) => each.fixed);
  const events = [
    ...products.flatMap(({ files }) => files.flatMap((file) => appearance(file, ledger) ?? [])),
    ...fixed.flatMap(({ files }) =>
      files.flatMap(({ add }) => ledger.changesOf(add.id).filter(isWithdrawal)),
    ),
  ];
  const later = events.filter(({ at }) => at > first).map(({ at }) => at);
  const times = [first, ...new Set(later.sort())];
  const days = new Set(
    fixed.flatMap(({ corrected = "" }) => (corrected >= first.slice(0, 10) ? corrected : [])),
  );
  const corrections = [...days].map((day) => {
    const before = times.findLast((at) => at.slice(0, 10) <= day) ?? first;
    return { date: [before, `${day}T00:00:00.000000Z`].sort()[1] ?? before, day };
  });
  let count = 0;
  const revisions = [...times.map((date) => ({ date, day: "" })), ...corrections]
    .sort((a, b) => (a.date + a.day < b.date + b.day ? -1 : 1))
    .map(({ date, day }) => {
      if (day !== "")
        return { date, number: `${count}.0.${day.replaceAll("-", "")}`, summary: "Notes were corrected." };
      const summary = date === first ? "First version." : "Files were released, withdrawn or reinstated.";
      return { date, number: `${++count}.0.0`, summary };
    });
  return {
    current_release_date: revisions.at(-1)?.date,
    id: advisory.id,
    initial_release_date: first,
    revision_history: revisions,
    status: "final",
    version: revisions.at(-1)?.number,
  };
}

/** A file that was private is in the document from the time on at which it no longer is. */
const appearance = ({ add }: Entry, ledger: Ledger) =>
  add.private ? ledger.changesOf(add.id).find((change) => change.event === "revise" && !change.private) : add;

const isWithdrawal = ({ event }: Change): boolean => event !== "revise";

function productTree(products: readonly Product[], { product, brand }: SiteConfig) {
  const versions = products.map(({ version, files }) => {
    const known = files.filter(({ add }) => add.checksum !== "unknown");
    const hashes = known.map(({ add: { file, checksum } }) => {
      return { file_hashes: [{ algorithm: "sha256", value: checksum }], filename: file };
    });
    const helper = hashes.length > 0 && { product_identification_helper: { hashes } };
    const described = { name: `${product} ${version}`, product_id: version, ...helper };
    return { category: "product_version", name: version, product: described };
  });
  const names = [{ branches: versions, category: "product_name", name: product }];
  return { branches: [{ branches: names, category: "vendor", name: brand.name }] };
}

function vulnerabilityOf(
  { cve, fixed, affected }: Vulnerability,
  { advisory, note }: Described,
  config: SiteConfig,
) {
  const products = affected.map(({ version }) => version);
  const { cvss } = advisory;
  const score = cvss === undefined || products.length === 0 ? undefined : cvss3(cvss);
  const urls = note.refs.filter((ref) => /^https?:\/\//.test(ref) && URL.canParse(ref));
  return {
    ...(cve === undefined ? { ids: [{ system_name: config.brand.name, text: advisory.id }] } : { cve }),
    notes: [
      { category: "description", text: withoutForbidden(plainText(note.text)) || note.text },
      // CSAF 2.0 has no member for CVSS 4, nor for a vector without a score.
      ...(cvss !== undefined && !score ? [{ category: "details", text: cvss, title: "CVSS" }] : []),
    ],
    product_status: {
      fixed: fixed.map(({ version }) => version),
      ...(products.length > 0 && { known_affected: products }),
    },
    ...(urls.length > 0 && {
      references: urls.map((ref) => ({ category: "external", summary: ref, url: uriOf(ref) })),
    }),
    ...(products.length > 0 && { remediations: remediationsOf(fixed, products, config) }),
    ...(score && { scores: [{ cvss_v3: score, products }] }),
  };
}

/** A release is offered as long as it has a file that is not withdrawn. */
function remediationsOf(fixed: readonly Product[], products: readonly string[], config: SiteConfig) {
  const fixes = fixed
    .filter(({ files }) => files.some(({ retraction }) => !retraction))
    .map((release) => ({
      category: "vendor_fix",
      details: `Update to ${config.product} ${release.version}.`,
      product_ids: products,
      url: pageOf(release, config),
    }));
  const details = "No release with the fix is offered.";
  return fixes.length > 0 ? fixes : [{ category: "none_available", details, product_ids: products }];
}

const pageOf = ({ version }: Product, { baseUrl }: SiteConfig): string =>
  uriOf(`${baseUrl}/releases/${version}/`);

/** Browsers leave some characters in a path that URIs do not allow (RFC 3986). */
const uriOf = (url: string): string =>
  new URL(url).href.replace(/%(?![\da-f]{2})|(?<=\/\/[^/]*\/.*)[[\]^`{|}\\]/gi, encodeURIComponent);

/** Weights of the base metrics of CVSS 3; `changedPR` is for a changed scope. */
const weights: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  AV: { N: 0.85, A: 0.62, L: 0.55, P: 0.2 },
  AC: { L: 0.77, H: 0.44 },
  PR: { N: 0.85, L: 0.62, H: 0.27 },
  UI: { N: 0.85, R: 0.62 },
  S: { U: 0, C: 1 },
  C: { H: 0.56, L: 0.22, N: 0 },
  I: { H: 0.56, L: 0.22, N: 0 },
  A: { H: 0.56, L: 0.22, N: 0 },
};
const changedPR: Readonly<Record<string, number>> = { N: 0.85, L: 0.68, H: 0.5 };

/** Metrics that the base score does not depend on. */
const others =
  /^(?:E:[XUPFH]|RL:[XOTWU]|RC:[XURC]|[CIA]R:[XLMH]|MAV:[XNALP]|MAC:[XLH]|MPR:[XNLH]|MUI:[XNR]|MS:[XUC]|M[CIA]:[XNLH])$/;

const severityOf = (score: number): string =>
  score >= 9 ? "CRITICAL" : score >= 7 ? "HIGH" : score >= 4 ? "MEDIUM" : score > 0 ? "LOW" : "NONE";

/** A score in CSAF; undefined: another version of CVSS, or a metric is missing, repeated or unknown. */
export function cvss3(vectorString: string) {
  const [, version, metrics = ""] = /^CVSS:(3\.[01])\/(.+)$/.exec(vectorString) ?? [];
  const list = metrics.split("/").map((metric) => metric.split(":"));
  const values = new Map(list.map(([name = "", value = ""]) => [name, value]));
  const weightOf = (name: string) => weights[name]?.[values.get(name) ?? ""];
  const isKnown = ([name = "", value = ""]: readonly string[]) =>
    weightOf(name) !== undefined || others.test(`${name}:${value}`);
  const isWhole = Object.keys(weights).every((name) => values.has(name)) && list.every(isKnown);
  if (version === undefined || values.size !== list.length || !isWhole) return undefined;
  const baseScore = scoreOf((name) => weightOf(name) ?? 0, changedPR[values.get("PR") ?? ""] ?? 0);
  return { baseScore, baseSeverity: severityOf(baseScore), vectorString, version };
}

/** Section 7.1 of the specification of CVSS 3.1. */
function scoreOf(weight: (name: string) => number, privileges: number): number {
  const isChanged = weight("S") === 1;
  const loss = 1 - (1 - weight("C")) * (1 - weight("I")) * (1 - weight("A"));
  const impact = isChanged ? 7.52 * (loss - 0.029) - 3.25 * (loss - 0.02) ** 15 : 6.42 * loss;
  if (impact <= 0) return 0;
  const exploitability =
    8.22 * weight("AV") * weight("AC") * (isChanged ? privileges : weight("PR")) * weight("UI");
  const score = Math.min((isChanged ? 1.08 : 1) * (impact + exploitability), 10);
  // Appendix A: rounded up to one decimal, without errors of floating point.
  return Math.ceil(Math.round(score * 100_000) / 10_000) / 10;
}
