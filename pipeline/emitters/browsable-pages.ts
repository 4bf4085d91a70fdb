import type { OutputFile, SiteConfig } from "../documents/published.ts";
import type { ListPart } from "./list-parts.ts";
import { page, pageLayout } from "./page-layout.ts";
import { relinked } from "./page-pieces.ts";
import type { Templates } from "./templates.ts";

/**
 * The list of packages as people read it (`format=api`), at the list's own address: its newest part.
 * Only this page names the others: theirs would change with every new month.
 * @param older newest first
 */
export const newestBrowsablePage = (
  newest: ListPart | undefined,
  older: readonly ListPart[],
  config: SiteConfig,
  templates: Templates,
): OutputFile => browsablePage("api/v1/package/index.html", newest, older, config, templates);

/** An older part of the list, below `page/`. */
export const olderBrowsablePage = (part: ListPart, config: SiteConfig, templates: Templates): OutputFile =>
  browsablePage(`api/v1/package/page/${part.folder}index.html`, part, [], config, templates);

function browsablePage(
  path: string,
  part: ListPart | undefined,
  others: readonly ListPart[],
  config: SiteConfig,
  templates: Templates,
): OutputFile {
  const slices = part?.slices ?? [];
  const provisional = slices
    .filter(({ release }) => release.provisional)
    .map(({ release }) => release.version);
  const list = "../".repeat(path.split("/").length - 4);
  return page(path, "api", templates, () => ({
    layout: pageLayout(path, { title: "Package List", provisional }, config, templates),
    root: `${list}../index.json`,
    list: `${list}?format=api`,
    month: part?.label ?? "",
    older: list !== "",
    requestPath: `${new URL(config.baseUrl).pathname.replace(/\/$/, "")}/api/v1/package/`,
    json: `${list}index.json`,
    api: `${list}?format=api`,
    recordsHtml: slices
      .flatMap(({ release, from, to }) => release.records().slice(from, to))
      .map((record) => relinked(record, list))
      .join(",\n"),
    months: others.map(({ folder, label }) => ({ href: `page/${folder}`, text: label })),
  }));
}
