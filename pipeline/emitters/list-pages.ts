import type { OutputFile, SiteConfig } from "../documents/published.ts";
import { browsablePages } from "./browsable-pages.ts";
import { page, pageLayout } from "./page-layout.ts";
import type { PageModel } from "./page-models.ts";
import { type Months, type PagePieces, twoFoldersUp } from "./page-pieces.ts";
import { platformPages } from "./platform-pages.ts";
import type { Templates } from "./templates.ts";

export { type PagePieces, releasePieces } from "./page-pieces.ts";

/**
 * The pages that span releases, made of each release's pieces.
 * @param pieces newest first
 */
export function* sitePages(
  pieces: readonly PagePieces[],
  config: SiteConfig,
  templates: Templates,
): Iterable<OutputFile> {
  const months = byMonth(pieces);
  for (const [month, releases] of months) yield monthPage(month, releases, config, templates);
  yield* platformPages(pieces, config, templates);
  yield* browsablePages(months, config, templates);
  yield latestRedirect(pieces, config, templates);
  yield releasesIndex(pieces, config, templates);
  yield notFound(config, templates);
  yield home(months, config, templates);
}

const byMonth = (pieces: readonly PagePieces[]): Months =>
  Map.groupBy(pieces, ({ version }) => version.slice(0, 5));

const provisionalVersions = (pieces: readonly PagePieces[]): string[] =>
  pieces.filter((piece) => piece.provisional).map((piece) => piece.version);

function home(months: Months, config: SiteConfig, templates: Templates): OutputFile {
  const releases = months.values().next().value ?? [];
  const newest = releases[0];
  const head = { title: "", provisional: provisionalVersions(releases) };
  return page("index.html", "home", templates, () => ({
    layout: pageLayout("index.html", head, config, templates),
    newest: newest
      ? { version: newest.version, date: newest.date, href: `releases/${newest.version}/` }
      : null,
    releases: releases.map((piece) => {
      const { summaryHtml, rowsHtml, ...rest } = listed(piece, "");
      return { ...rest, summaryHtml: twoFoldersUp(summaryHtml), rowsHtml: twoFoldersUp(rowsHtml) };
    }),
    months: [...months.keys()].map((month) => ({ href: `page/${month}/`, text: month })),
    all: "releases/",
  }));
}

/** A month's page names no other month: it stays as it is when releases come after it. */
function monthPage(
  month: string,
  releases: readonly PagePieces[],
  config: SiteConfig,
  templates: Templates,
): OutputFile {
  const path = `page/${month}/index.html`;
  const head = { title: `Releases of ${month}`, provisional: provisionalVersions(releases) };
  return page(path, "month", templates, () => ({
    layout: pageLayout(path, head, config, templates),
    month,
    releases: releases.map((piece) => listed(piece, "../../")),
    home: "../../",
    all: "../../releases/",
  }));
}

function releasesIndex(pieces: readonly PagePieces[], config: SiteConfig, templates: Templates): OutputFile {
  const path = "releases/index.html";
  const head = { title: "Releases", provisional: provisionalVersions(pieces) };
  return page(path, "releases", templates, () => ({
    layout: pageLayout(path, head, config, templates),
    releases: pieces.map((piece) => ({ ...counts(piece), href: `${piece.version}/` })),
  }));
}

function latestRedirect(pieces: readonly PagePieces[], config: SiteConfig, templates: Templates): OutputFile {
  const path = "releases/latest/index.html";
  const newest = pieces[0] && { version: pieces[0].version, href: `../${pieces[0].version}/` };
  return page(path, "latest", templates, () => ({
    layout: pageLayout(path, { title: "Newest release", refresh: newest?.href }, config, templates),
    newest: newest ?? null,
    all: "../",
  }));
}

/** Shown at any depth, so its links start at the site's base path. */
function notFound(config: SiteConfig, templates: Templates): OutputFile {
  const base = new URL(config.baseUrl).pathname.replace(/^\/+|\/+$/g, "");
  const root = base === "" ? "/" : `/${base}/`;
  return page("404.html", "not-found", templates, () => ({
    layout: pageLayout("404.html", { title: "Page not found", root }, config, templates),
    home: root,
    all: `${root}releases/`,
    platforms: `${root}platforms/`,
  }));
}

const counts = ({ version, date, provisional, packageCount, retractedCount }: PagePieces) => ({
  version,
  date,
  provisional,
  count: packageCount,
  withdrawn: retractedCount,
});

const listed = (piece: PagePieces, root: string): PageModel<"month">["releases"][number] => ({
  ...counts(piece),
  href: `${root}releases/${piece.version}/`,
  summaryHtml: piece.summaryHtml,
  rowsHtml: piece.rows.map((row) => row.html).join(""),
});
