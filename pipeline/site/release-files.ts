import type { OutputFile, PublishedRelease, SiteConfig } from "../documents/published.ts";
import { checksumFile } from "./checksums.ts";
import { releasePage } from "./pages/release-page.ts";
import type { Templates } from "./pages/templates.ts";
import { recordFiles } from "./records.ts";
import { releaseDocument } from "./release-document.ts";
import { releaseNotesFiles } from "./release-notes.ts";

/** All that belongs to one release: a pure function of it, the configuration and the templates. */
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
