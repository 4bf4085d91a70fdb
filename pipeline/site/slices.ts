import { architectureOf, packageVersionOf } from "../../shared/package-metadata.ts";
import type {
  ListedPackage,
  PublishedPackage,
  PublishedRelease,
  ReleaseSlices,
  SiteConfig,
} from "../documents/published.ts";
import { withoutData } from "../selection/record-index.ts";
import { feedParts } from "./feeds/feeds.ts";
import { feedEntry } from "./news-feeds.ts";
import { rowView } from "./pages/artifact-view.ts";
import { browsableRecord } from "./pages/browsable-json.ts";
import { offersOf, repositoriesWith } from "./pages/repositories.ts";
import type { Templates } from "./pages/templates.ts";
import { notesHtml } from "./release-notes.ts";
import { searchSlice } from "./search-index.ts";

/**
 * Renders a release's part of the files that span releases: text and data that depend on this release alone.
 * Links in rows are written for pages two folders deep; see `relinked`.
 * @param isInFeeds true if the release is among the newest, which are in the feeds
 */
export function slicesOf(
  release: PublishedRelease,
  isInFeeds: boolean,
  config: SiteConfig,
  templates: Templates,
): ReleaseSlices {
  const { version, packages } = release;
  const path = `../../releases/${version}/`;
  return {
    records: () => packages.map(({ json }) => json),
    rows: () => packages.map((entry) => templates.render("row", { artifact: rowView(entry, path, config) })),
    notes: () => notesHtml(release, config, { base: path }),
    offers: () => {
      const repositories = repositoriesWith(release, config);
      return packages.map((entry) => offersOf(entry, repositories, config));
    },
    // The browsable list of a month is five folders deep, two below the newest one.
    browsable: () =>
      packages.map(({ record, published }) =>
        browsableRecord(published ?? record, `../../../../../releases/${version}/#p${record.id}`),
      ),
    facts: () => ({
      feed: isInFeeds ? feedEntry(release, config) : null,
      packages: packages.map(listedPackage),
    }),
    feeds: () => feedParts(release, config),
    search: () => searchSlice(release),
  };
}

function listedPackage(entry: PublishedPackage): ListedPackage {
  const { record, published, file, url, size, metadata } = entry;
  const arch = architectureOf(metadata);
  const packageVersion = packageVersionOf(metadata);
  const { data: _, ...fields } = record;
  const known = { ...(arch && { arch }), ...(packageVersion && { packageVersion }) };
  return { record: fields, row: withoutData(published ?? fields), file, url, size, ...known };
}
