import type { OutputFile, SiteConfig } from "../documents/published.ts";
import { page, pageLayout } from "./page-layout.ts";
import { type Months, type PagePieces, twoFoldersUp } from "./page-pieces.ts";
import type { Templates } from "./templates.ts";

/**
 * The list of packages as people read it (`format=api`): the newest month at the list's own address,
 * each older one below `page/`.
 */
export function* browsablePages(
  months: Months,
  config: SiteConfig,
  templates: Templates,
): Generator<OutputFile> {
  const [newest, ...older] = months.keys();
  for (const month of older) yield browsablePage(month, months, config, templates);
  yield browsablePage(newest ?? "", months, config, templates);
}

function browsablePage(month: string, months: Months, config: SiteConfig, templates: Templates): OutputFile {
  const [newest = "", ...older] = months.keys();
  const first = month === newest;
  const path = `api/v1/package/${first ? "" : `page/${month}/`}index.html`;
  const list = first ? "" : "../../";
  const pieces = months.get(month) ?? [];
  const provisional = pieces.filter((piece) => piece.provisional).map((piece) => piece.version);
  return page(path, "api", templates, () => ({
    layout: pageLayout(path, { title: "Package List", provisional }, config, templates),
    root: `${list}../index.json`,
    list: `${list}?format=api`,
    month,
    requestPath: `${new URL(config.baseUrl).pathname.replace(/\/$/, "")}/api/v1/package/`,
    json: `${list}index.json`,
    api: `${list}?format=api`,
    recordsHtml: first ? twoFoldersUp(joined(pieces)) : joined(pieces),
    // Only the list's own page names the others: theirs would change with every new month.
    months: first ? older.map((other) => ({ href: `page/${other}/`, text: other })) : [],
  }));
}

const joined = (pieces: readonly PagePieces[]): string =>
  pieces
    .map((piece) => piece.recordsHtml)
    .filter(Boolean)
    .join(",\n");
