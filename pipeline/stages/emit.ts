import type { Site } from "../build.ts";
import type { Config } from "../documents/config.ts";
import type { OutputFile, PublishedPackage } from "../documents/published.ts";
import type { ReleaseIndex } from "../documents/site.ts";
import { listFiles, type RecordText } from "../emitters/catalog-list.ts";
import { checksumFile } from "../emitters/checksums.ts";
import { latestFiles } from "../emitters/latest.ts";
import { jsonFile } from "../emitters/output.ts";
import { recordFiles } from "../emitters/records.ts";
import { releaseDocument, releaseIndexRow } from "../emitters/release-document.ts";
import type { IdentifiedRelease } from "./assign-ids.ts";
import type { Ledger } from "./ledger.ts";
import { publishRelease } from "./publish-records.ts";

/** Decides the site's files; they are made one by one as somebody asks for them. */
export function emitSite(
  releases: readonly IdentifiedRelease[],
  ledger: Ledger,
  config: Config,
  _templates: ReadonlyMap<string, string>,
): Site {
  const published = releases.map((release) => publishRelease(release, ledger, config));
  return {
    config,
    provisional: published.filter((release) => release.provisional).map((release) => release.version),
    releaseCount: published.length,
    packageCount: published.reduce((sum, release) => sum + release.packages.length, 0),
    files: { [Symbol.iterator]: () => emitFiles(published, config) },
  };
}

function* emitFiles(published: readonly ReturnType<typeof publishRelease>[], config: Config): Generator<OutputFile> {
  const records: RecordText[] = [];
  const rows: ReleaseIndex["releases"] = [];
  const newest = new Map<string, PublishedPackage[]>();
  for (const release of [...published].reverse()) {
    yield* recordFiles(release);
    yield releaseDocument(release);
    yield checksumFile(release);
    for (const { record, json } of release.packages) records.push({ id: record.id, json });
    rows.push(releaseIndexRow(release, config.baseUrl));
    for (const [type, packages] of Map.groupBy(release.packages, (entry) => entry.record.package_type)) {
      if (!newest.has(type)) newest.set(type, packages);
    }
  }
  yield* latestFiles(newest, rows[0]?.version ?? null);
  yield jsonFile("api/v1/release/index.json", { schema_version: 1, releases: rows });
  yield* listFiles(records, config.baseUrl);
}
