import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import type { ListPart } from "./list-parts.ts";
import { page, pageLayout } from "./page-layout.ts";
import { provisionalVersions, relinked } from "./page-pieces.ts";
import type { Templates } from "./templates.ts";

/**
 * Browsable list of packages (`format=api`): the newest part at the list's address, older ones below `page/`.
 * @param parts newest first
 */
export function* browsablePages(
  parts: readonly ListPart[],
  config: SiteConfig,
  templates: Templates,
): Generator<BrowsablePage> {
  const [newest, ...older] = parts;
  for (const part of older) {
    const path = `api/v1/package/page/${part.folder}index.html`;
    yield { part, others: [], file: browsablePage(path, part, [], config, templates) };
  }
  // Only the first page links to the others, which would otherwise change with every new month.
  const file = browsablePage("api/v1/package/index.html", newest, older, config, templates);
  yield { part: newest, others: older, file };
}

interface BrowsablePage {
  part: ListPart | undefined;
  others: readonly ListPart[];
  file: OutputFile;
}

function browsablePage(
  path: string,
  part: ListPart | undefined,
  others: readonly ListPart[],
  config: SiteConfig,
  templates: Templates,
): OutputFile {
  const slices = part?.slices ?? [];
  const provisional = provisionalVersions(slices.map(({ release }) => release));
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
      .flatMap(({ release, from, to }) => release.slices.browsable().slice(from, to))
      .map((record) => relinked(record, list))
      .join(",\n"),
    months: others.map(({ folder, label }) => ({ href: `page/${folder}`, text: label })),
  }));
}
