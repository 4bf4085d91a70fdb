import type { Architecture } from "../../../shared/package-metadata.ts";
import type { RenderedRelease, SiteConfig } from "../../documents/published.ts";
import { renderMarkdown } from "../markdown.ts";

/** A release for the pages that span releases. Links in its HTML are written for pages two folders deep; see `relinked`. */
export interface PagePieces extends RenderedRelease {
  /** Platforms of its artifacts, including retracted ones. */
  platforms: readonly number[];
  summaryHtml(): string;
  /** In the order of `packages`. */
  architectures(): readonly (Architecture | undefined)[];
}

export function releasePieces(release: RenderedRelease, config: SiteConfig): PagePieces {
  const { version, summary, packages, retracted, slices } = release;
  const retractedPlatforms = retracted.flatMap(
    (record) => config.packageTypes.get(record.package_type)?.platform ?? [],
  );
  const links = { base: `../../releases/${version}/`, refs: config.refs };
  return {
    ...release,
    platforms: [...new Set([...packages.map(({ platform }) => platform), ...retractedPlatforms])],
    summaryHtml: () => renderMarkdown(summary ?? "", links),
    architectures: () => slices.facts().packages.map(({ arch }) => arch),
  };
}

export const provisionalVersions = (pieces: readonly PagePieces[]): string[] =>
  pieces.filter(({ provisional }) => provisional).map(({ version }) => version);

/**
 * Adapts links to a page at another depth. In pieces, `="../../` only begins an attribute value: quotes elsewhere are
 * entities, and in JSON a quote inside a string follows a backslash.
 * @param up replacement for the two folders
 */
export const relinked = (html: string, up: string): string => html.replaceAll('="../../', `="${up}`);
