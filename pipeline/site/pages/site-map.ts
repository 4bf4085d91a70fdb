import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { escapeHtml } from "../escape.ts";
import { joinedFile } from "../output.ts";
import type { ListPart } from "./list-parts.ts";
import type { PagePieces } from "./page-pieces.ts";

/** Addresses that one sitemap may have, by https://www.sitemaps.org/protocol.html. */
const mostAddresses = 50_000;

/** `sitemap.xml`: the pages that a search engine should show, newest first. @param pieces newest first */
export function siteMap(
  pieces: readonly PagePieces[],
  parts: readonly ListPart[],
  { baseUrl }: SiteConfig,
): OutputFile {
  const newest = pieces[0]?.date;
  const pages = [
    { path: "", date: newest },
    { path: "releases/", date: newest },
    { path: "platforms/", date: newest },
    ...pieces.flatMap(({ version, date }) => [
      { path: `releases/${version}/`, date },
      { path: `changes/${version}/`, date },
    ]),
    ...parts.map(({ folder }) => ({ path: `page/${folder}`, date: undefined })),
  ];
  return joinedFile("sitemap.xml", () => [
    '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n',
    ...pages.slice(0, mostAddresses).map(({ path, date }) => {
      const changed = date === undefined ? "" : `<lastmod>${date}</lastmod>`;
      return `<url><loc>${escapeHtml(`${baseUrl}/${path}`)}</loc>${changed}</url>\n`;
    }),
    "</urlset>\n",
  ]);
}
