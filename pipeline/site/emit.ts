import type { Config } from "../documents/config.ts";
import { areFeedsSigned } from "../documents/feeds/signing.ts";
import type { OutputFile, OutputGroup, ReleaseSlices, RenderedRelease } from "../documents/published.ts";
import type { BuildCopies, FeedsDocument } from "../documents/site.ts";
import { digestOf } from "../journal/digest.ts";
import type { IdentifiedRelease } from "../ledger/assign-ids.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { publishRelease, summarizeRelease } from "../ledger/publish-records.ts";
import { indexRecords } from "../selection/record-index.ts";
import { listFiles } from "./catalog-list.ts";
import { facetFiles, facetKeys } from "./facets.ts";
import { feedCopies, feedGroups, feedParts, feedTags, leftOutOfFeeds } from "./feeds/feeds.ts";
import { hostingFiles } from "./hosting/hosting.ts";
import { routingOf } from "./hosting/routing.ts";
import { latestFiles, type NewestPackage } from "./latest.ts";
import { feedFiles, feedLength } from "./news-feeds.ts";
import { jsonFile } from "./output.ts";
import { assetFiles } from "./pages/assets.ts";
import { pageGroups, releasePieces } from "./pages/list-pages.ts";
import { projectTemplates } from "./pages/project-templates.ts";
import { referencePage } from "./pages/reference-page.ts";
import type { Templates } from "./pages/templates.ts";
import { releaseIndexRow } from "./release-document.ts";
import { releaseFiles } from "./release-files.ts";
import { openApiDocument, schemaFiles } from "./schemas.ts";
import { searchFiles } from "./search-index.ts";
import { slicesOf } from "./slices.ts";

/** Templates and schemas by file name. */
export interface Sources {
  templates: ReadonlyMap<string, string>;
  schemas: ReadonlyMap<string, string>;
}

/**
 * Renders a site in three parts: files that depend on no release, files of one release, and files that span
 * releases.
 */
export interface SiteRenderer {
  /** Digest of configuration, templates and schemas. */
  basis: string;
  constants(): OutputGroup;
  /** @param key digest of everything that the release is generated from */
  release(identified: IdentifiedRelease, key: string, isInFeeds: boolean): RenderedFiles;
  /** @param releases ascending by version */
  acrossReleases(releases: readonly RenderedRelease[]): Iterable<OutputGroup>;
  /** Copies of artifacts. @param releases ascending by version */
  copies(releases: readonly RenderedRelease[]): BuildCopies;
  /** Records that feeds leave out. @param releases ascending by version */
  leftOut(releases: readonly RenderedRelease[]): FeedsDocument["feeds"];
}

/** A release's own files, and its slices of the files that span releases. */
export interface RenderedFiles {
  group: OutputGroup;
  slices: ReleaseSlices;
}

export function siteRenderer(ledger: Ledger, config: Config, sources: Sources): SiteRenderer {
  const basis = digestOf(config, [...sources.templates], [...sources.schemas]);
  const templates = projectTemplates(sources.templates, config);
  return {
    basis,
    constants: () => ({ name: "constant", key: basis, files: constantFiles(config, templates, sources) }),
    release(identified, key, isInFeeds) {
      const release = publishRelease(identified, ledger, config);
      const group = {
        name: releaseGroup(release.version),
        key,
        files: releaseFiles(release, config, templates),
      };
      return { group, slices: slicesOf(release, isInFeeds, config, templates) };
    },
    acrossReleases: (releases) =>
      groupsAcrossReleases(releases.toReversed(), basis, config, sources, templates),
    copies: (releases) => feedCopies(newestFirst(releases), config),
    leftOut: (releases) => leftOutOfFeeds(newestFirst(releases), config),
  };
}

const newestFirst = (releases: readonly RenderedRelease[]) =>
  releases.toReversed().map(({ slices }) => slices);

/** Name of the group of a release's own files. */
export const releaseGroup = (version: string) => `release ${version}`;

/** True if the release at this index is among the newest, which are in the feeds. */
export const isInFeeds = (index: number, count: number): boolean => index >= count - feedLength;

/** Renders the site in memory, file by file. */
export function* emitSite(
  releases: readonly IdentifiedRelease[],
  ledger: Ledger,
  config: Config,
  sources: Sources,
): Generator<OutputFile> {
  const site = siteRenderer(ledger, config, sources);
  yield* site.constants().files;
  const rendered: RenderedRelease[] = [];
  for (const [index, identified] of releases.entries()) {
    const key = String(index);
    const { group, slices } = site.release(identified, key, isInFeeds(index, releases.length));
    yield* group.files;
    rendered.push({ ...summarizeRelease(identified, ledger), key, slices });
  }
  for (const { files } of site.acrossReleases(rendered)) yield* files;
}

/** Copies of artifacts in the site, which no file of `emitSite` contains. */
export const siteCopies = (
  releases: readonly IdentifiedRelease[],
  ledger: Ledger,
  config: Config,
): BuildCopies =>
  feedCopies(
    releases
      .toReversed()
      .map((release) => ({ feeds: () => feedParts(publishRelease(release, ledger, config), config) })),
    config,
  );

function* constantFiles(config: Config, templates: Templates, { schemas }: Sources): Generator<OutputFile> {
  yield* assetFiles(templates, config);
  yield* schemaFiles(schemas, config.wire);
  const api = openApiDocument(schemas, config);
  yield jsonFile("openapi.json", api);
  yield referencePage(api, config, templates);
}

/**
 * @param releases newest first
 * @returns groups in writing order; pages that link to all other files come last
 */
function* groupsAcrossReleases(
  releases: readonly RenderedRelease[],
  basis: string,
  config: Config,
  sources: Sources,
  templates: Templates,
): Generator<OutputGroup> {
  const all = digestOf(basis, ...releases.map(({ key }) => key));
  if (config.hosts.size > 0)
    yield { name: "hosts", key: all, files: filesForHosts(releases, config, sources.templates) };
  yield { name: "indexes", key: all, files: indexFiles(releases, config) };
  yield* feedGroups(
    releases.map(({ slices }) => slices),
    config,
    areFeedsSigned(
      config,
      releases.some(({ provisional }) => provisional),
    ),
  );
  yield { name: "search", key: all, files: searchFiles(releases) };
  const pieces = releases.map((release) => releasePieces(release, config));
  yield* pageGroups(pieces, basis, config, templates);
}

function* indexFiles(releases: readonly RenderedRelease[], config: Config): Generator<OutputFile> {
  yield* latestFiles(newestOfEachType(releases), releases[0]?.version ?? null);
  const entries = releases.slice(0, feedLength).flatMap(({ slices }) => slices.facts().feed ?? []);
  yield* feedFiles(entries, config);
  const rows = releases.map((release) => releaseIndexRow(release, config.baseUrl));
  yield jsonFile("api/v1/release/index.json", { schema_version: 1, releases: rows });
  yield* listFiles(releases, config.baseUrl);
}

/** Prebuilt lists and configuration, for hosts that cannot run relcat. */
function* filesForHosts(
  releases: readonly RenderedRelease[],
  config: Config,
  templates: Sources["templates"],
): Generator<OutputFile> {
  const packages = releases.flatMap(({ slices }) => slices.facts().packages);
  const records = releases.flatMap(({ slices }) => slices.records().map((json) => ({ json })));
  const rows = packages.map(({ row }) => row);
  const index = indexRecords(rows);
  const keys = facetKeys(rows);
  yield* facetFiles(keys, index, records);
  const retracted = releases.flatMap((release) => release.retracted);
  const routing = routingOf({ baseUrl: config.baseUrl, packages, retracted, rows, index, keys });
  const tags = feedTags(
    releases.map(({ slices }) => slices),
    config,
  );
  yield* hostingFiles({ routing, tags, templates }, config);
}

function newestOfEachType(releases: readonly RenderedRelease[]): Map<string, NewestPackage[]> {
  const newest = new Map<string, NewestPackage[]>();
  for (const { packages, slices } of releases) {
    const types = new Set(packages.map(({ packageType }) => packageType).filter((type) => !newest.has(type)));
    if (types.size === 0) continue;
    const records = slices.records();
    const all = slices.facts().packages.map((entry, index) => ({ ...entry, json: records[index] ?? "" }));
    for (const type of types)
      newest.set(
        type,
        all.filter(({ record }) => record.package_type === type),
      );
  }
  return newest;
}
