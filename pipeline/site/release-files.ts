import { documentMediaType } from "../../inspect/documents.ts";
import { architectureOf, documentAddress, packageVersionOf } from "../../shared/package-metadata.ts";
import { semverOf } from "../../shared/version.ts";
import type { OutputFile, PublishedRelease, RenderedRelease, SiteConfig } from "../documents/published.ts";
import type { ReleaseIndex, RetractedRecord } from "../documents/site.ts";
import { jsonFile, textFile } from "./output.ts";
import { releasePage } from "./pages/release-page.ts";
import type { Templates } from "./pages/templates.ts";
import { releaseNotesFiles } from "./release-notes.ts";

/** All files of one release: a pure function of the release, the configuration and the templates. */
export function* releaseFiles(
  release: PublishedRelease,
  config: SiteConfig,
  templates: Templates,
): Generator<OutputFile> {
  yield* recordFiles(release);
  yield releaseDocument(release);
  yield checksumFile(release);
  yield* releaseNotesFiles(release, config);
  yield* releasePage(release, config, templates);
}

/** `releases/{version}/SHA256SUMS` for `sha256sum -c`: the known ones, by file name in code units. */
function checksumFile(release: PublishedRelease): OutputFile {
  const known = release.packages.filter(({ record }) => record.checksum !== "unknown");
  const files = known.sort((a, b) => (a.file < b.file ? -1 : 1));
  const lines = files.map(({ file, record }) => `${record.checksum}  ${file}\n`);
  return textFile(`releases/${release.version}/SHA256SUMS`, lines.join(""));
}

/** `api/v1/release/{version}/index.json`: notes as data, records, and the addresses of their files. */
export function releaseDocument(release: PublishedRelease): OutputFile {
  const { version, date, summary, provisional, notes, retracted } = release;
  const head = {
    schema_version: 1,
    version,
    date,
    ...forMachines(release),
    summary,
    ...(provisional && { provisional: true }),
    notes,
  };
  const artifacts = release.packages.map(({ record, file, url, size, metadata, documents }) => {
    const arch = architectureOf(metadata);
    const stated = { file, url, size, arch, package_version: packageVersionOf(metadata) };
    const beside = documents?.map((document) => ({
      ...document,
      url: documentAddress(url, file, document),
      media_type: documentMediaType(document),
    }));
    return `${JSON.stringify(String(record.id))}:${JSON.stringify({ ...stated, documents: beside })}`;
  });
  // Embeds the records' own text, so that a record has the same bytes in every document.
  const packages = release.packages.map((entry) => entry.json).join(",");
  const text = `${JSON.stringify(head).slice(0, -1)},"packages":[${packages}],"artifacts":{${artifacts.join(",")}},"retracted":${JSON.stringify(retracted)}}\n`;
  return textFile(`api/v1/release/${version}/index.json`, text);
}

/** Members for programs that compare versions and times. */
export const forMachines = ({ version, releasedAt }: Pick<PublishedRelease, "version" | "releasedAt">) => ({
  semver: semverOf(version),
  ...(releasedAt && { released_at: releasedAt }),
});

/** A release's row in `api/v1/release/index.json`. */
export function releaseIndexRow(release: RenderedRelease, baseUrl: string): ReleaseIndex["releases"][number] {
  return {
    version: release.version,
    date: release.date,
    ...forMachines(release),
    package_count: release.packages.length,
    retracted_count: release.retracted.length,
    ...(release.provisional && { provisional: true as const }),
    url: `${baseUrl}/api/v1/release/${release.version}/`,
  };
}

/** `api/v1/package/{id}/`: a record as JSON, or the body of its 410 after a retraction. */
function recordFiles(release: PublishedRelease): OutputFile[] {
  return [
    ...release.packages.map(({ record, json }) => textFile(`api/v1/package/${record.id}/index.json`, json)),
    ...release.retracted.map((record) => jsonFile(`api/v1/package/${record.id}/gone.json`, goneBody(record))),
  ];
}

export function goneBody({ id, name, reason, replaced_by }: RetractedRecord) {
  return { detail: "This package was withdrawn.", id, name, reason, replaced_by };
}
