import type { VerifiedSite } from "../documents/outputs/sites.ts";
import type { BuildDocument, ReleaseIndex } from "../documents/site.ts";
import type { Reading } from "../system/in-parallel.ts";
import { packslipFaults } from "../trust/feeds/packslip.ts";
import { sha256 } from "../trust/metadata.ts";
import { isHosting } from "../trust/site-files.ts";
import { artifactsOf, compareArtifacts, placeOf } from "./artifacts.ts";
import { buildFindings, disagreements } from "./consistency.ts";
import { readDocuments, type SignedDocuments } from "./documents.ts";
import { compareFiles, difference, slack } from "./files.ts";
import type { Finding, Listed } from "./finding.ts";
import type { InspectAgain } from "./inspect-published.ts";
import { metadataFindings } from "./metadata-form.ts";
import type { ProjectPolicy } from "./place.ts";
import { findStale } from "./staleness.ts";
import { type Answer, readHosting, type SiteReader, siteAt } from "./stores/site-reader.ts";
import { openTrustedSite } from "./tuf-client.ts";

export type { Finding } from "./finding.ts";

export interface Verdict extends Omit<VerifiedSite, "place" | "first_use" | "findings"> {
  findings: Finding[];
}

interface VerifyRequest {
  /** Address or folder. */
  place: string;
  root: Uint8Array;
  /** Folder with the trust state of earlier runs. */
  state: string;
  artifacts?: boolean | undefined;
  /** Inspect them again with this policy; default: no inspection. */
  policy?: ProjectPolicy | undefined;
  /** Compare only a sample of the files. */
  sample?: Sample | undefined;
  /** Milliseconds that caches may lag behind. */
  grace?: number | undefined;
  /** Milliseconds since 1970. */
  now?: number | undefined;
  onFile?: ((done: number, all: number) => void) | undefined;
  reading?: Reading | undefined;
}

/** A quarter of an hour, the longest that CDNs usually cache. */
export const usualGrace = 15 * 60_000;

/**
 * Verifies metadata, each listed file by hash, headers and encodings, and that documents agree with each other.
 * @throws RelcatError site-tampered, site-stale, site-expired, clock for the metadata itself; network
 */
export async function verifySite(request: VerifyRequest): Promise<Verdict> {
  const { place, root, state, sample, onFile = () => {} } = request;
  const site = siteAt(place);
  const trusted = await openTrustedSite(site, root, state);
  const documents = await readDocuments(trusted);
  const paths = chosen(Object.keys(documents.listed), sample);
  const artifacts = artifactsOf(documents.releases);
  const downloads = request.artifacts ? chosen([...artifacts.keys()], sample) : [];
  const now = request.now ?? Date.now();
  const again = await inspecting(request, now);
  const build = await jsonIn<BuildDocument>(site, documents, "build.json");
  const found = [
    ...(await metadataFindings(trusted, root)),
    ...documents.findings,
    ...disagreements(documents),
    ...(await indexFindings(site, documents, build)),
    ...(await compareFiles(site, paths, documents.listed, onFile)),
    ...(await copyFindings(site, build)),
    ...(await listAddressFindings(site, documents.listed)),
    ...(build ? await signatureFindings(site, documents, now) : []),
    ...(await compareArtifacts(
      artifacts,
      downloads,
      (artifact) => placeOf(artifact, site, build?.base_url),
      request.reading ?? {},
      again,
    )),
  ];
  const { findings: unlike, behind, since } = await findStale(trusted, documents, found);
  const findings = [...unlike, ...(again?.inspections().refused ?? [])];
  const isLess = request.artifacts === true && downloads.length < artifacts.size;
  const isPart = paths.length < Object.keys(documents.listed).length || isLess;
  const late = now - since > (request.grace ?? usualGrace);
  const verdict = judge(findings, late, isPart);
  return {
    verdict,
    build: documents.build,
    findings,
    files: paths.length,
    releases: documents.releases.size,
    packages: documents.list.length,
    artifacts: request.artifacts ? downloads.length : null,
    policy: request.artifacts ? policyVerdict(request, again) : null,
    sample:
      sample && isPart
        ? {
            seed: sample.seed,
            files: Object.keys(documents.listed).length,
            artifacts: request.artifacts ? artifacts.size : null,
          }
        : null,
    stale: behind === undefined ? null : { builds: behind, since: new Date(since).toISOString() },
    irregular: documents.irregular,
  };
}

/** Loads the inspection code only if it is a site of the project. */
async function inspecting({ artifacts, policy }: VerifyRequest, now: number) {
  const project = policy && (policy.project ?? policy.manifests);
  if (!artifacts || !project) return undefined;
  const { inspectAgain } = await import("./inspect-published.ts");
  return inspectAgain(project, now);
}

function policyVerdict({ policy }: VerifyRequest, again: InspectAgain | undefined): Verdict["policy"] {
  const reason = policy?.project === undefined ? policy?.reason : undefined;
  if (!again || reason !== undefined) return { applied: false, reason: reason ?? "none was given" };
  const { refused, ...rest } = again.inspections();
  return { applied: true, catalog: again.catalog, refused: refused.length, ...rest };
}

function judge(findings: readonly Finding[], late: boolean, isPart: boolean): Verdict["verdict"] {
  const isStale = findings.some(({ stale }) => stale);
  if (findings.some((each) => !each.stale && !each.refused && !each.ended && !each.served)) return "tampered";
  if (isStale && late) return "stale";
  if (findings.some(({ ended }) => ended)) return "expired";
  if (findings.some(({ refused }) => refused)) return "refused";
  if (findings.some(({ served }) => served)) return "misconfigured";
  if (isStale) return "converging";
  return isPart ? "sampled" : "ok";
}

/** The site's indexes of releases and files, which are not among the signed targets. */
async function indexFindings(site: SiteReader, documents: SignedDocuments, build: BuildDocument | undefined) {
  const findings: Finding[] = [];
  const index = await jsonIn<ReleaseIndex>(site, documents, "api/v1/release/index.json");
  const versions = index?.releases.map(({ version }) => version).sort();
  if (versions && versions.join() !== [...documents.releases.keys()].join())
    findings.push({
      path: "api/v1/release/index.json",
      what: "lists releases that differ from the signed ones",
    });
  if (!build) return findings;
  return [...findings, ...buildFindings(build, documents), ...hostingFindings(site, build)];
}

/** Signatures of apt, yum and packslip. OpenPGP is loaded only for sites that have such repositories. */
async function signatureFindings(site: SiteReader, documents: SignedDocuments, now: number) {
  const { listed } = documents;
  const signed = { listed, read: (path: string) => readListed(site, documents, path), now };
  const faults = await packslipFaults(signed);
  if (!Object.keys(listed).some((path) => /^(?:dists|yum)\//.test(path))) return faults;
  const { feedFaults } = await import("../trust/feeds/verify-feeds.ts");
  return [...faults, ...(await feedFaults(signed))];
}

async function jsonIn<T>(site: SiteReader, documents: SignedDocuments, path: string): Promise<T | undefined> {
  const bytes = await readListed(site, documents, path);
  return bytes && JSON.parse(new TextDecoder().decode(bytes));
}

/** undefined if it differs from the signed bytes, which the file comparison reports. */
async function readListed(site: SiteReader, { listed }: SignedDocuments, path: string) {
  const known = Object.hasOwn(listed, path) ? listed[path] : undefined;
  if (!known) return undefined;
  const { status, bytes } = await site.read(path, known.size + slack);
  return status === 200 && sha256(bytes) === known.sha256 ? bytes : undefined;
}

interface Sample {
  count: number;
  /** The same seed selects the same sample. */
  seed: string;
}

/** Deterministic sample of the names, ascending; all of them without a sample. */
function chosen(names: readonly string[], sample: Sample | undefined): string[] {
  if (!sample || sample.count >= names.length) return [...names].sort();
  const order = new Map(
    names.map((name) => [name, sha256(new TextEncoder().encode(`${sample.seed}\n${name}`))]),
  );
  const rank = (name: string) => order.get(name) ?? "";
  return names
    .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .slice(0, sample.count)
    .sort();
}

/** Copies of artifacts, which publishing makes. A folder that `build` wrote has neither artifacts nor copies. */
async function copyFindings(site: SiteReader, build: BuildDocument | undefined): Promise<Finding[]> {
  const copies = build?.copies ?? {};
  const paths: string[] = [];
  for (const [path, { from, size }] of Object.entries(copies))
    if (site.isRemote || (await isThere(site, path, size)) || (await isThere(site, from, size)))
      paths.push(path);
  return compareFiles(site, paths.sort(), copies, () => {});
}

const isThere = async (site: SiteReader, path: string, size: number): Promise<boolean> =>
  (await site.read(path, size + slack)).status !== 404;

/** Web servers read every file in `hosting/`, so each must match the signed build.json. */
function hostingFindings({ place, isRemote }: SiteReader, { files }: BuildDocument): Finding[] {
  const there = isRemote ? undefined : readHosting(place);
  if (!there) return [];
  const listed = Object.keys(files).filter(isHosting);
  return [...new Set([...listed, ...there.keys()])].sort().flatMap((path) => {
    const bytes = there.get(path);
    if (!bytes) return [{ path, what: "is missing" }];
    if (!Object.hasOwn(files, path)) return [{ path, what: "is in no build: web servers would read it" }];
    return sha256(bytes) === files[path]?.sha256 ? [] : [{ path, what: "is not what was signed" }];
  });
}

/** Installers request the list here, and browsers a page of it. */
const listPath = "api/v1/package/";
const listFile = "api/v1/package/index.json";
/** A list page is small; longer answers are not read. */
const maxPageBytes = 16 * 1024 * 1024;

/** Content negotiation is optional, but installers must not get a page, not even from a cache. */
async function listAddressFindings(site: SiteReader, listed: Listed): Promise<Finding[]> {
  const [known, page] = [listed[listFile], listed[`${listPath}index.html`]];
  if (!site.isRemote || !known || !page) return [];
  const limit = Math.max(known.size, maxPageBytes) + 1;
  const json = await site.read(listPath, limit, { accept: "application/json" });
  const html = await site.read(listPath, limit, { accept: "text/html" });
  return [...jsonFindings(json, known, page), ...htmlFindings(html, known)];
}

const isHtml = ({ headers }: Answer): boolean => /^text\/html\b/i.test(headers["content-type"] ?? "");

/** A host of plain files has the signed page at the address, whatever is asked for. */
function jsonFindings(answer: Answer, known: Listed[string], page: Listed[string]): Finding[] {
  if (answer.status !== 200) return [];
  const other = difference(answer, isHtml(answer) ? page : known);
  if (!isHtml(answer) && other === undefined) return [];
  const what = isHtml(answer) ? "answers with a page where JSON was asked for" : "is not the signed list";
  return [{ path: listPath, what, ...(other === undefined ? { served: true } : { instead: other }) }];
}

function htmlFindings(answer: Answer, known: Listed[string]): Finding[] {
  if (answer.status !== 200) return [];
  if (isHtml(answer)) {
    const caching = answer.headers["cache-control"] ?? "";
    if (/(^|[\s,])no-store([\s,]|$)/i.test(caching)) return [];
    const shown = caching === "" ? "no Cache-Control" : `Cache-Control: ${caching}`;
    const what = `has a page with ${shown}, expected no-store: caches may give it to installers`;
    return [{ path: listPath, what, served: true }];
  }
  const other = difference(answer, known);
  return other === undefined
    ? []
    : [{ path: listPath, what: "is not the signed list for browsers", instead: other }];
}
