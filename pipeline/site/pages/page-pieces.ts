import type { ReleaseOutline, SiteConfig } from "../../documents/published.ts";
import { renderMarkdown } from "../markdown.ts";
import { artifactView } from "./artifact-view.ts";
import { browsableRecord } from "./browsable-json.ts";
import type { Templates } from "./templates.ts";

/**
 * A release's part of the pages that span releases: plain data, a function of that release alone.
 * Links in its HTML are written for pages two folders deep; see `relinked`.
 */
export interface PagePieces {
  /** Digest of all that the pieces are made of. */
  key: string;
  version: string;
  date: string;
  provisional: boolean;
  packageCount: number;
  retractedCount: number;
  /** Platforms it has artifacts for, retracted ones included. */
  platforms: readonly number[];
  /** What each artifact is, in the release's order. */
  artifacts: readonly { platform: number; packageType: string }[];
  /** Made when a page asks for them, each time anew: kept, those of all releases would fill the memory. */
  summaryHtml(): string;
  /** One table row an artifact, in the same order; of all of them, or of those at `positions`. */
  rows(positions?: readonly number[]): readonly string[];
  /** Its records as browsable JSON, in the same order. */
  records(): readonly string[];
}

/** Makes a release's pieces. */
export function releasePieces(release: ReleaseOutline, config: SiteConfig, templates: Templates): PagePieces {
  const { key, version, date, summary, provisional, packages, retracted, open } = release;
  const path = `../../releases/${version}/`;
  const retractedPlatforms = retracted.flatMap(
    (record) => config.packageTypes.get(record.package_type)?.platform ?? [],
  );
  return {
    key,
    version,
    date,
    provisional,
    packageCount: packages.length,
    retractedCount: retracted.length,
    platforms: [...new Set([...packages.map(({ platform }) => platform), ...retractedPlatforms])],
    artifacts: packages,
    summaryHtml: () => (summary === null ? "" : renderMarkdown(summary, { base: path })),
    rows(positions) {
      const { packages: all } = open();
      const shown = positions?.flatMap((position) => all[position] ?? []) ?? all;
      return shown.map((entry) => templates.render("row", { artifact: artifactView(entry, path, config) }));
    },
    // The browsable list of a month lies five folders deep, two below the newest one.
    records: () =>
      open().packages.map(({ record, published }) =>
        browsableRecord(published ?? record, `../../../../../releases/${version}/#p${record.id}`),
      ),
  };
}

/**
 * A piece's HTML for a page at another depth. In escaped HTML `="../../` stands only where an attribute
 * begins: in text and inside values the quote is an entity.
 * @param up what stands in place of the two folders
 */
export const relinked = (html: string, up: string): string => html.replaceAll('="../../', `="${up}`);
