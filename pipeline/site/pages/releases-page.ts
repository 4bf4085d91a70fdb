import { firstDayOf, lineOf } from "../../../shared/version.ts";
import type { OutputFile } from "../../documents/published.ts";
import { artifactsUnit } from "./artifact-view.ts";
import { type PageSite, page } from "./page-layout.ts";
import type { PageModel } from "./page-models.ts";
import { type PagePieces, provisionalVersions, relinked } from "./page-pieces.ts";

/** Releases with date, counts and summary. Older ones are a link each, so that the page stays under 100 KB. */
const fullReleases = 50;

/** Releases with a link. Months of older ones are only a link to the month's page. */
const linkedReleases = 1000;

/** @param pieces newest first */
export function releasesPage(pieces: readonly PagePieces[], site: PageSite): OutputFile {
  const description = `All releases of ${site.config.product} by year and month.`;
  const head = { title: "Releases", description, provisional: provisionalVersions(pieces) };
  return page("releases/index.html", "releases", head, site, (layout) => ({
    layout,
    total: pieces.length,
    unit: releasesUnit(pieces.length),
    changes: "../changes/",
    search: "../search/",
    years: yearsOf(pieces),
  }));
}

type Years = PageModel<"releases">["years"];

function yearsOf(pieces: readonly PagePieces[]): Years {
  const places = pieces.map((piece, place) => ({ piece, place }));
  return [...Map.groupBy(places, ({ piece }) => firstDayOf(piece.version).slice(0, 4))].map(
    ([year, ofYear]) => ({
      year,
      count: ofYear.length,
      unit: releasesUnit(ofYear.length),
      months: [...Map.groupBy(ofYear, ({ piece }) => lineOf(piece.version))].map(([month, ofMonth]) => ({
        month,
        count: ofMonth.length,
        unit: releasesUnit(ofMonth.length),
        href: `../page/${month}/`,
        open: ofMonth.some(({ place }) => place === 0),
        releases: ofMonth.filter(({ place }) => place < fullReleases).map(({ piece }) => fullRow(piece)),
        versions: ofMonth
          .filter(({ place }) => place >= fullReleases && place < linkedReleases)
          .map(({ piece: { version, retracted, provisional } }) => {
            return { version, href: `${version}/`, withdrawn: retracted.length, provisional };
          }),
      })),
    }),
  );
}

const fullRow = (piece: PagePieces): Years[number]["months"][number]["releases"][number] => ({
  ...shownOf(piece, "../"),
  href: `${piece.version}/`,
  count: piece.packages.length,
  unit: artifactsUnit(piece.packages.length),
});

/** @param root the path from the page to the site's root */
export const shownOf = (
  { version, date, provisional, retracted, summaryHtml }: PagePieces,
  root: string,
) => ({
  version,
  date,
  provisional,
  withdrawn: retracted.length,
  summaryHtml: relinked(summaryHtml(), root),
});

const releasesUnit = (count: number): string => (count === 1 ? "release" : "releases");
