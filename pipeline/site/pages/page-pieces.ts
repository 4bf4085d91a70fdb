import type { Architecture } from "../../documents/feeds/package-metadata.ts";
import type { ReleaseSlices, RenderedRelease, SearchedFile, SiteConfig } from "../../documents/published.ts";
import { renderMarkdown } from "../markdown.ts";
import { searchedRetracted } from "../search-index.ts";

/**
 * A release's part of the pages that span releases: plain data that depends on this release alone. Links in
 * its HTML are written for pages two folders deep; see `relinked`.
 */
export interface PagePieces {
  /** Digest of all inputs. */
  key: string;
  version: string;
  date: string;
  provisional: boolean;
  packageCount: number;
  retractedCount: number;
  /** Platforms of its artifacts, including retracted ones. */
  platforms: readonly number[];
  /** Platform and type of each artifact, in the release's order. */
  artifacts: readonly { platform: number; packageType: string }[];
  summaryHtml(): string;
  notesHtml(): string;
  /** Its files, withdrawn ones last. */
  files(): readonly (SearchedFile & { withdrawn: boolean })[];
  /** One table row per artifact, in the same order. */
  rows(): readonly string[];
  /** The repositories that list each artifact, in the same order. */
  offers: ReleaseSlices["offers"];
  /** The architecture of each artifact, in the same order. */
  architectures(): readonly (Architecture | undefined)[];
  /** Its records as browsable JSON, in the same order. */
  records(): readonly string[];
}

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
    notesHtml: slices.notes,
    files: () => [
      ...slices.search().files.map((file) => ({ ...file, withdrawn: false })),
      ...searchedRetracted(retracted).map((file) => ({ ...file, withdrawn: true })),
    ],
    rows: slices.rows,
    offers: slices.offers,
    architectures: () => slices.facts().packages.map(({ arch }) => arch),
    records: slices.browsable,
  };
}

/**
 * Adapts a piece's links to a page at another depth. In these pieces, `="../../` only occurs at the start of an
 * attribute value: quotes elsewhere are entities, and in JSON a quote inside a string follows a backslash.
 * @param up replacement for the two folders
 */
export const relinked = (html: string, up: string): string => html.replaceAll('="../../', `="${up}`);
