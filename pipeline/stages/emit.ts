import type { Site } from "../build.ts";
import type { Config } from "../documents/config.ts";
import type { OutputFile, PublishedPackage, PublishedRelease } from "../documents/published.ts";
import { assetFiles } from "../emitters/assets.ts";
import { listFiles, type RecordText } from "../emitters/catalog-list.ts";
import { checksumFile } from "../emitters/checksums.ts";
import { feedEntry, feedFiles } from "../emitters/feeds.ts";
import { latestFiles } from "../emitters/latest.ts";
import { releasePieces, sitePages } from "../emitters/list-pages.ts";
import { jsonFile } from "../emitters/output.ts";
import { recordFiles } from "../emitters/records.ts";
import { releaseDocument, releaseIndexRow } from "../emitters/release-document.ts";
import { releaseNotesFiles } from "../emitters/release-notes.ts";
import { releasePage } from "../emitters/release-page.ts";
import { schemaFiles } from "../emitters/schemas.ts";
import { compileTemplates, type Templates } from "../emitters/templates.ts";
import type { IdentifiedRelease } from "./assign-ids.ts";
import type { Ledger } from "./ledger.ts";
import { publishRelease } from "./publish-records.ts";

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
  const published = releases.map((release) => publishRelease(release, ledger, config)).reverse();
  const templates = compileTemplates(sources.templates);
  return {
    config,
    provisional: published
      .filter((release) => release.provisional)
      .map((release) => release.version)
      .reverse(),
    releaseCount: published.length,
    packageCount: published.reduce((sum, release) => sum + release.packages.length, 0),
    files: {
      *[Symbol.iterator]() {
        yield* assetFiles(templates);
        yield* schemaFiles(sources.schemas, config.wire);
        for (const release of published) yield* recordFiles(release);
        for (const release of published) yield* filesOfRelease(release, config, templates);
        yield* filesAcrossReleases(published, config, templates);
      },
    },
  };
}

/** A pure function of one release: what faster builds may keep. */
function* filesOfRelease(
  release: PublishedRelease,
  config: Config,
  templates: Templates,
): Generator<OutputFile> {
  yield releaseDocument(release);
  yield checksumFile(release);
  yield* releaseNotesFiles(release, config);
  yield* releasePage(release, config, templates);
}

/** Joined from the releases in order, newest first; last what leads to everything else. */
function* filesAcrossReleases(
  published: readonly PublishedRelease[],
  config: Config,
  templates: Templates,
): Generator<OutputFile> {
  const records = published.flatMap(({ packages }) =>
    packages.map(({ record, json }): RecordText => ({ id: record.id, json })),
  );
  yield* latestFiles(newestOfEachType(published), published[0]?.version ?? null);
  yield* feedFiles(
    published.slice(0, 50).map((release) => feedEntry(release, config)),
    config,
  );
  const rows = published.map((release) => releaseIndexRow(release, config.baseUrl));
  yield jsonFile("api/v1/release/index.json", { schema_version: 1, releases: rows });
  yield* listFiles(records, config.baseUrl);
  yield* sitePages(
    published.map((release) => releasePieces(release, config, templates)),
    config,
    templates,
  );
}

function newestOfEachType(published: readonly PublishedRelease[]): Map<string, PublishedPackage[]> {
  const newest = new Map<string, PublishedPackage[]>();
  for (const { packages } of published) {
    for (const [type, group] of Map.groupBy(packages, (entry) => entry.record.package_type)) {
      if (!newest.has(type)) newest.set(type, group);
    }
  }
  return newest;
}
