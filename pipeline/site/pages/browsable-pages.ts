import type { OutputFile } from "../../documents/published.ts";
import type { ListPart } from "./list-parts.ts";
import { type PageSite, page } from "./page-layout.ts";
import { provisionalVersions, relinked } from "./page-pieces.ts";

/**
 * @param part undefined: there is no release
 * @param others older parts, on the page of the newest one
 */
export function browsablePage(
  path: string,
  part: ListPart | undefined,
  others: readonly ListPart[],
  site: PageSite,
): OutputFile {
  const slices = part?.slices ?? [];
  const provisional = provisionalVersions(slices.map(({ release }) => release));
  const list = "../".repeat(path.split("/").length - 4);
  return page(path, "api", { title: "Package List", provisional }, site, (layout) => ({
    layout,
    root: `${list}../index.json`,
    list: `${list}?format=api`,
    month: part?.label ?? "",
    older: list !== "",
    requestPath: `${new URL(site.config.baseUrl).pathname.replace(/\/$/, "")}/api/v1/package/`,
    json: `${list}index.json`,
    api: `${list}?format=api`,
    recordsHtml: slices
      .flatMap(({ release, from, to }) => release.slices.browsable().slice(from, to))
      .map((record) => relinked(record, list))
      .join(",\n"),
    months: others.map(({ folder, label }) => ({ href: `page/${folder}`, text: label })),
  }));
}
