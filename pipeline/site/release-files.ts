import type { OutputFile, PublishedRelease, SiteConfig } from "../documents/published.ts";
import { textFile } from "./output.ts";
import { releasePage } from "./pages/release-page.ts";
import type { Templates } from "./pages/templates.ts";
import { recordFiles, releaseDocument } from "./release-document.ts";
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

/**
 * `releases/{version}/SHA256SUMS` for `sha256sum -c`, sorted by file name in code units; only known
 * checksums.
 */
function checksumFile(release: PublishedRelease): OutputFile {
  const known = release.packages.filter(({ record }) => record.checksum !== "unknown");
  const files = known.sort((a, b) => (a.file < b.file ? -1 : 1));
  const lines = files.map(({ file, record }) => `${record.checksum}  ${file}\n`);
  return textFile(`releases/${release.version}/SHA256SUMS`, lines.join(""));
}
