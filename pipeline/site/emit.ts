import type { Config } from "../documents/config.ts";
import type { OutputFile, OutputGroup, PublishedPackage, ReleaseOutline } from "../documents/published.ts";
import type { IdentifiedRelease } from "../ledger/assign-ids.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { onlyTheLast } from "../ledger/only-the-last.ts";
import { outlineOf, publishRelease, summarizeRelease } from "../ledger/publish-records.ts";
import { indexRecords, withoutData } from "../selection/record-index.ts";
import { listFiles, type RecordText } from "./catalog-list.ts";
import { facetFiles, facetKeys } from "./facets.ts";
import { feedEntry, feedFiles } from "./feeds.ts";
import { hostingFiles } from "./hosting/hosting.ts";
import { routingOf } from "./hosting/routing.ts";
import { latestFiles } from "./latest.ts";
import { digestOf, jsonFile } from "./output.ts";
import { assetFiles } from "./pages/assets.ts";
import { pageGroups, releasePieces } from "./pages/list-pages.ts";
import { compileTemplates, type Templates } from "./pages/templates.ts";
import { releaseIndexRow } from "./release-document.ts";
import { releaseFiles } from "./release-files.ts";
import { openApiFile, schemaFiles } from "./schemas.ts";
import type { Site } from "./site.ts";

/** The files a site is made with, by name. */
export interface Sources {
  templates: ReadonlyMap<string, string>;
  schemas: ReadonlyMap<string, string>;
}

/** Decides the site's files; they are made one by one as somebody asks for them. */
export function emitSite(
  releases: readonly IdentifiedRelease[],
  ledger: Ledger,
  config: Config,
  sources: Sources,
): Site {
  const basis = digestOf(config, [...sources.templates], [...sources.schemas]);
  const open = onlyTheLast((release: IdentifiedRelease) => publishRelease(release, ledger, config));
  const outlines = releases
    .map((release) => {
      const summary = release.summary ?? summarizeRelease(release, ledger);
      return outlineOf(summary, basis, () => open(release));
    })
    .reverse();
  const templates = compileTemplates(sources.templates);
  return {
    config,
    provisional: outlines
      .filter((release) => release.provisional)
      .map((release) => release.version)
      .reverse(),
    releaseCount: outlines.length,
    packageCount: outlines.reduce((sum, release) => sum + release.packages.length, 0),
    leaves: [
      { name: "constant", key: basis, files: lazily(() => constantFiles(config, templates, sources)) },
      ...outlines.map(({ version, key, open }) => ({
        name: `release ${version}`,
        key,
        files: lazily(() => releaseFiles(open(), config, templates)),
      })),
    ],
    indexes: lazily(() => groupsAcrossReleases(outlines, basis, config, sources, templates)),
  };
}

const lazily = <T>(make: () => Iterable<T>): Iterable<T> => ({
  [Symbol.iterator]: () => make()[Symbol.iterator](),
});

function* constantFiles(config: Config, templates: Templates, { schemas }: Sources): Generator<OutputFile> {
  yield* assetFiles(templates);
  yield* schemaFiles(schemas, config.wire);
  yield openApiFile(schemas, config);
}

/** Joined from the releases in order, newest first; last what leads to everything else. */
function* groupsAcrossReleases(
  outlines: readonly ReleaseOutline[],
  basis: string,
  config: Config,
  sources: Sources,
  templates: Templates,
): Generator<OutputGroup> {
  const all = digestOf(basis, ...outlines.map(({ key }) => key));
  if (config.hosts.size > 0)
    yield { name: "hosts", key: all, files: filesForHosts(outlines, config, sources.templates) };
  yield { name: "indexes", key: all, files: indexFiles(outlines, config) };
  const pieces = outlines.map((release) => releasePieces(release, config, templates));
  yield* pageGroups(pieces, basis, config, templates);
}

function* indexFiles(outlines: readonly ReleaseOutline[], config: Config): Generator<OutputFile> {
  yield* latestFiles(newestOfEachType(outlines), outlines[0]?.version ?? null);
  yield* feedFiles(
    outlines.slice(0, 50).map((release) => feedEntry(release.open(), config)),
    config,
  );
  const rows = outlines.map((release) => releaseIndexRow(release, config.baseUrl));
  yield jsonFile("api/v1/release/index.json", { schema_version: 1, releases: rows });
  yield* listFiles(outlines, config.baseUrl);
}

/** What hosts need that run no program of relcat's: lists rendered beforehand, and their own configuration. */
function* filesForHosts(
  outlines: readonly ReleaseOutline[],
  config: Config,
  templates: Sources["templates"],
): Generator<OutputFile> {
  const published = outlines.map((release) => release.open());
  const packages = published.flatMap((release) => release.packages);
  const rows = packages.map(({ record, published: imported }) => withoutData(imported ?? { ...record }));
  const index = indexRecords(rows);
  const keys = facetKeys(rows);
  const records = packages.map(({ record, json }): RecordText => ({ id: record.id, json }));
  yield* facetFiles(keys, index, records);
  const routing = routingOf({ baseUrl: config.baseUrl, releases: published, rows, index, keys });
  yield* hostingFiles(routing, config, templates);
}

function newestOfEachType(outlines: readonly ReleaseOutline[]): Map<string, PublishedPackage[]> {
  const newest = new Map<string, PublishedPackage[]>();
  for (const { packages, open } of outlines) {
    for (const type of new Set(packages.map(({ packageType }) => packageType))) {
      if (newest.has(type)) continue;
      newest.set(
        type,
        open().packages.filter(({ record }) => record.package_type === type),
      );
    }
  }
  return newest;
}
