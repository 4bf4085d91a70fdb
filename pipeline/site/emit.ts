import type { Config } from "../documents/config.ts";
import { areFeedsSigned } from "../documents/feeds/signing.ts";
import type {
  ListedPackage,
  OutputFile,
  OutputGroup,
  RenderedRelease,
  SiteConfig,
} from "../documents/published.ts";
import type { BuildCopies, BuildDocument, LatestDocument } from "../documents/site.ts";
import { digestOf } from "../journal/digest.ts";
import type { MadeFile } from "../journal/file-stats.ts";
import type { IdentifiedRelease } from "../ledger/assign-ids.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { cutTime, publishRelease, summarizeRelease } from "../ledger/publish-records.ts";
import { hasPackages, offeredIn, offeredVersions } from "../selection/channels.ts";
import { indexRecords } from "../selection/record-index.ts";
import { array, listFiles } from "./catalog-list.ts";
import { csafFiles } from "./csaf.ts";
import { facetFiles, facetKeys } from "./facets.ts";
import { feedCopies, feedGroups, feedTags, leftOutOfFeeds } from "./feeds/feeds.ts";
import { securityFiles } from "./host-files.ts";
import { hostingFiles } from "./hosting/hosting.ts";
import { routingOf } from "./hosting/routing.ts";
import { feedFiles, newsOf } from "./news-feeds.ts";
import { joinedFile, jsonFile, textFile } from "./output.ts";
import { pageGroups, releasePieces } from "./pages/list-pages.ts";
import { referencePage } from "./pages/reference-page.ts";
import { assetFiles, projectTemplates, type Templates } from "./pages/templates.ts";
import { forMachines, releaseFiles, releaseIndexRow } from "./release-files.ts";
import { searchFiles } from "./search-index.ts";
import { slicesOf } from "./slices.ts";
import { supportFiles } from "./support-dates.ts";
import { channelFiles, versionLists } from "./version-lists.ts";

/** `build.json`, written file by file. @param head its first members, in their order */
export function buildDocument(
  { copies, ...head }: Omit<BuildDocument, "schema_version" | "files"> & { copies: BuildCopies },
  files: readonly MadeFile[],
): OutputFile {
  return joinedFile("build.json", function* () {
    yield `${JSON.stringify({ schema_version: 1, ...head }).slice(0, -1)},"files":{`;
    let comma = "";
    for (const { path, sha256, size } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
      yield `${comma}${JSON.stringify(path)}:${JSON.stringify({ sha256, size })}`;
      comma = ",";
    }
    yield Object.keys(copies).length > 0 ? `},"copies":${JSON.stringify(copies)}}\n` : "}}\n";
  });
}

interface NewestPackage extends ListedPackage {
  json: string;
  release: RenderedRelease;
}

/** For installers: each package type at its own highest version. @param releases that are offered, newest first */
function latestFiles(releases: readonly RenderedRelease[]): OutputFile[] {
  const newest = newestOfEachType(releases);
  const document = latestDocument(releases, newest);
  const perType = newest.map(([type, packages]) =>
    joinedFile(`api/v1/package/latest/${type}.json`, () => array(packages.map(withArchitecture))),
  );
  const text = document.version === null ? [] : [textFile("api/v1/latest.txt", `${document.version}\n`)];
  return [...perType, jsonFile("api/v1/latest.json", document), ...text];
}

/** @param releases that are offered, newest first */
function latestDocument(
  releases: readonly RenderedRelease[],
  newest = newestOfEachType(releases),
): LatestDocument {
  const highest = releases.find(hasPackages);
  return {
    schema_version: 1,
    version: highest?.version ?? null,
    ...(highest && forMachines(highest)),
    packages: newest.flatMap(([, packages]) => packages.map(latestPackage)),
  };
}

/** The record, followed by its architecture if it is known, which is not one of its fields. */
const withArchitecture = ({ json, arch }: NewestPackage): string =>
  arch ? `${json.slice(0, -1)},"arch":${JSON.stringify(arch)}}` : json;

function latestPackage(entry: NewestPackage): LatestDocument["packages"][number] {
  const { release, record, file, url, size, arch } = entry;
  return {
    package_type: record.package_type,
    version: record.version,
    ...forMachines(release),
    id: record.id,
    name: record.name,
    file,
    url,
    size,
    sha256: record.checksum === "unknown" ? null : record.checksum,
    operating_system: record.operating_system,
    platform: record.platform,
    min_os_version: record.min_os_version,
    max_os_version: record.max_os_version,
    gui_only: record.gui_only,
    headless: record.headless,
    ...(arch && { arch }),
  };
}

/** Templates and schemas by file name. */
export interface Sources {
  templates: ReadonlyMap<string, string>;
  schemas: ReadonlyMap<string, string>;
}

export type SiteRenderer = ReturnType<typeof siteRenderer>;

/** Renders a site in three parts: files that depend on no release, files of one, and files that span releases. */
export function siteRenderer(ledger: Ledger, config: Config, sources: Sources) {
  const basis = digestOf(config, [...sources.templates], [...sources.schemas]);
  const templates = projectTemplates(sources.templates, config);
  return {
    /** Digest of configuration, templates and schemas. */
    basis,
    constants: (): OutputGroup => {
      return { name: "constant", key: basis, files: constantFiles(config, templates, sources) };
    },
    /** A release's own files, and its slices of others. @param key digest of everything that it is generated from */
    release(identified: IdentifiedRelease, key: string, isInFeeds: boolean) {
      const release = publishRelease(identified, ledger, config);
      const files = releaseFiles(release, config, templates);
      const group: OutputGroup = { name: releaseGroup(release.version), key, files };
      return { group, slices: slicesOf(release, isInFeeds, config, templates) };
    },
    /** Groups in writing order: pages that link to all other files come last. @param releases ascending by version */
    *acrossReleases(releases: readonly RenderedRelease[]): Generator<OutputGroup> {
      const key = digestOf(basis, ...releases.map((release) => release.key));
      const newestFirst = releases.toReversed();
      if (releases.some(({ securityNotes }) => securityNotes?.some(({ advisory }) => advisory)))
        yield { name: "advisories", key, files: csafFiles(releases, ledger, config) };
      if (config.hosts.size > 0)
        yield { name: "hosts", key, files: filesForHosts(newestFirst, config, sources.templates) };
      yield { name: "indexes", key, files: indexFiles(newestFirst, config) };
      const isProvisional = releases.some(({ provisional }) => provisional);
      yield* feedGroups(newestFirst, config, areFeedsSigned(config, isProvisional));
      yield { name: "search", key, files: searchFiles(newestFirst) };
      const pieces = newestFirst.map((release) => releasePieces(release, config));
      yield* pageGroups(pieces, basis, config, templates);
    },
    /** Copies of artifacts. @param releases ascending by version */
    copies: (releases: readonly RenderedRelease[]) => feedCopies(releases.toReversed(), config),
    /** Records that feeds leave out. @param releases ascending by version */
    leftOut: (releases: readonly RenderedRelease[]) => leftOutOfFeeds(releases.toReversed(), config),
  };
}

export const releaseGroup = (version: string) => `release ${version}`;

export function versionsInNews(
  releases: readonly { version: string }[],
  ledger: Ledger,
): ReadonlySet<string> {
  const dated = releases.map(({ version }) => ({ version, releasedAt: cutTime(version, ledger) }));
  return new Set(newsOf(dated).map(({ version }) => version));
}

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
  const outlines = releases.map(({ release }) => release);
  const news = versionsInNews(outlines, ledger);
  for (const [index, identified] of releases.entries()) {
    const key = String(index);
    const { group, slices } = site.release(identified, key, news.has(identified.release.version));
    yield* group.files;
    rendered.push({ ...summarizeRelease(identified, ledger, config), key, slices });
  }
  for (const { files } of site.acrossReleases(rendered)) yield* files;
}

function* constantFiles(config: Config, templates: Templates, { schemas }: Sources): Generator<OutputFile> {
  yield* assetFiles(templates, config);
  yield* schemaFiles(schemas, config.wire);
  const api = openApiDocument(schemas, config);
  yield jsonFile("openapi.json", api);
  yield* securityFiles(config);
  yield referencePage(api, { config, templates });
}

function* indexFiles(releases: readonly RenderedRelease[], config: Config): Generator<OutputFile> {
  const offered = offeredIn(releases, config.channels[0]);
  yield* latestFiles(offered);
  const entries = newsOf(releases).flatMap(({ slices }) => slices.facts().feed ?? []);
  yield* feedFiles(entries, config);
  const rows = releases.map((release) => releaseIndexRow(release, config.baseUrl));
  yield jsonFile("api/v1/release/index.json", { schema_version: 1, releases: rows });
  yield* versionLists(offered.toReversed(), config);
  yield* channelFiles(releases, (some) => latestDocument(some), config);
  yield* supportFiles(releases.toReversed(), config);
  yield* listFiles(releases, config.baseUrl);
}

/** Prebuilt lists and configuration, for hosts that cannot run relcat. */
function* filesForHosts(
  releases: readonly RenderedRelease[],
  config: Config,
  templates: Sources["templates"],
): Generator<OutputFile> {
  const packages = releases.flatMap(({ slices }) => slices.facts().packages);
  const records = releases.flatMap(({ slices }) => slices.records());
  const rows = packages.map(({ row }) => row);
  const index = indexRecords(rows, offeredVersions(releases, config.channels[0]));
  const keys = facetKeys(rows);
  yield* facetFiles(keys, index, records);
  const retracted = releases.flatMap((release) => release.retracted);
  const routing = routingOf({ baseUrl: config.baseUrl, packages, retracted, rows, index, keys });
  yield* hostingFiles({ routing, tags: feedTags(releases, config), templates }, config);
}

/** @returns types in the order of their names */
function newestOfEachType(releases: readonly RenderedRelease[]): (readonly [string, NewestPackage[]])[] {
  const newest = new Map<string, NewestPackage[]>();
  for (const release of releases) {
    const { packages, slices } = release;
    const types = new Set(packages.map(({ packageType }) => packageType).filter((type) => !newest.has(type)));
    if (types.size === 0) continue;
    const records = slices.records();
    const all = slices
      .facts()
      .packages.map((entry, index) => ({ ...entry, release, json: records[index] ?? "" }));
    const ofType = Map.groupBy(all, ({ record }) => record.package_type);
    for (const type of types) newest.set(type, ofType.get(type) ?? []);
  }
  return [...newest].sort(([a], [b]) => (a < b ? -1 : 1));
}

const withData = new Set(["package-record", "package-list", "release-document"]);

/** `schemas/*.json`: those of published documents have the catalog's own key names inside `data`. */
function schemaFiles(sources: ReadonlyMap<string, string>, wire: SiteConfig["wire"]): OutputFile[] {
  return [...sources].flatMap(([file, text]) => {
    const [, name] = /^(.*)\.schema\.json$/.exec(file) ?? [];
    if (name === undefined) return [];
    return textFile(`schemas/${file}`, withData.has(name) ? inWireNames(text, wire) : text);
  });
}

/** The HTTP API with its published address. */
function openApiDocument(
  sources: ReadonlyMap<string, string>,
  { wire, baseUrl }: Pick<SiteConfig, "wire" | "baseUrl">,
) {
  const document = JSON.parse(sources.get("catalog.openapi.json") ?? "{}");
  const schemas = document.components?.schemas;
  // Posted manifests keep the neutral names.
  if (schemas) schemas.Package = JSON.parse(inWireNames(JSON.stringify(schemas.Package), wire));
  return { ...document, servers: [{ url: baseUrl }] };
}

function inWireNames(text: string, wire: SiteConfig["wire"]): string {
  const names: Record<string, string> = { ...wire };
  const rename = (value: unknown, isProperties: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => rename(item, false));
    if (value === null || typeof value !== "object") return value;
    const entries = Object.entries(value).map(([key, item]) => [
      isProperties ? (names[key] ?? key) : key,
      rename(item, !isProperties && key === "properties"),
    ]);
    return Object.fromEntries(entries);
  };
  return `${JSON.stringify(rename(JSON.parse(text), false), null, 2)}\n`;
}
