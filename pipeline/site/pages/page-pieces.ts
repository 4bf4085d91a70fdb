import type { RenderedRelease, SiteConfig } from "../../documents/published.ts";
import { renderMarkdown } from "../markdown.ts";

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
  summaryHtml(): string;
  /** One table row an artifact, in the same order. */
  rows(): readonly string[];
  /** Its records as browsable JSON, in the same order. */
  records(): readonly string[];
}

/** A release as pages that span releases show it. */
export function releasePieces(release: RenderedRelease, config: SiteConfig): PagePieces {
  const { key, version, date, summary, provisional, packages, retracted, slices } = release;
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
    summaryHtml: () =>
      summary === null ? "" : renderMarkdown(summary, { base: `../../releases/${version}/` }),
    rows: slices.rows,
    records: slices.browsable,
  };
}

/**
 * A piece's HTML for a page at another depth. In escaped HTML `="../../` stands only where an attribute
 * begins: in text and inside values the quote is an entity.
 * @param up what stands in place of the two folders
 */
export const relinked = (html: string, up: string): string => html.replaceAll('="../../', `="${up}`);
