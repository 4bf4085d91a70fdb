import type { PublishedRelease, SiteConfig } from "../documents/published.ts";
import { artifactView } from "./artifact-view.ts";
import { browsableRecord } from "./browsable-json.ts";
import { renderMarkdown } from "./markdown.ts";
import type { Templates } from "./templates.ts";

/**
 * A release's part of the pages that span releases: plain data, a function of that release alone.
 * Links in its HTML are written for pages two folders deep; see `twoFoldersUp`.
 */
export interface PagePieces {
  version: string;
  date: string;
  provisional: boolean;
  packageCount: number;
  retractedCount: number;
  summaryHtml: string;
  /** One table row an artifact, in the release's order. */
  rows: readonly ArtifactRow[];
  /** Its records as browsable JSON, joined by commas. */
  recordsHtml: string;
  /** Platforms it has artifacts for, retracted ones included. */
  platforms: readonly number[];
}

export interface ArtifactRow {
  platform: number;
  packageType: string;
  html: string;
}

/** Pieces by version month `YY.MM`, newest first. */
export type Months = ReadonlyMap<string, readonly PagePieces[]>;

/** Makes a release's pieces. */
export function releasePieces(
  release: PublishedRelease,
  config: SiteConfig,
  templates: Templates,
): PagePieces {
  const { version, date, provisional, packages, retracted, summary } = release;
  const path = `../../releases/${version}/`;
  const retractedPlatforms = retracted.flatMap(
    (record) => config.packageTypes.get(record.package_type)?.platform ?? [],
  );
  return {
    version,
    date,
    provisional,
    packageCount: packages.length,
    retractedCount: retracted.length,
    summaryHtml: summary === null ? "" : renderMarkdown(summary, { base: path }),
    rows: packages.map((entry) => ({
      platform: entry.record.platform,
      packageType: entry.record.package_type,
      html: templates.render("row", { artifact: artifactView(entry, path, config) }),
    })),
    // The browsable list of a month lies five folders deep, two below the newest one.
    recordsHtml: packages
      .map(({ record, published }) =>
        browsableRecord(published ?? record, `../../../../../releases/${version}/#p${record.id}`),
      )
      .join(",\n"),
    platforms: [...new Set([...packages.map(({ record }) => record.platform), ...retractedPlatforms])],
  };
}

/**
 * A piece's HTML for the page two folders up. In escaped HTML `="../../` stands only where an attribute
 * begins: in text and inside values the quote is an entity.
 */
export const twoFoldersUp = (html: string): string => html.replaceAll('="../../', '="');
