import { platformFolder } from "../../../shared/package-types.ts";
import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { escapeHtml } from "../escape.ts";
import { joinedFile } from "../output.ts";
import { channelPage } from "./channel-pages.ts";
import type { ListPart } from "./list-parts.ts";
import type { PagePieces } from "./page-pieces.ts";
import { platformNames } from "./platform-pages.ts";

/** Addresses that one sitemap may have, by https://www.sitemaps.org/protocol.html. */
const maxAddresses = 50_000;

/** `sitemap.xml`: the pages that a search engine should show, newest first. @param pieces newest first */
export function siteMap(
  pieces: readonly PagePieces[],
  parts: readonly ListPart[],
  config: SiteConfig,
): OutputFile {
  return joinedFile("sitemap.xml", () => [
    '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n',
    ...addressesOf(pieces, parts, config)
      .slice(0, maxAddresses)
      .map(({ path, date }) => {
        const changed = date === undefined ? "" : `<lastmod>${date}</lastmod>`;
        return `<url><loc>${escapeHtml(`${config.baseUrl}/${path}`)}</loc>${changed}</url>\n`;
      }),
    "</urlset>\n",
  ]);
}

function addressesOf(pieces: readonly PagePieces[], parts: readonly ListPart[], config: SiteConfig) {
  const timeOf = ({ releasedAt, date }: PagePieces) => releasedAt ?? date;
  const newest = pieces[0] && timeOf(pieces[0]);
  const folders = platformNames(pieces, config).map((name) => `platforms/${platformFolder(name)}/`);
  return [
    { path: "", date: newest },
    { path: "releases/", date: newest },
    { path: "platforms/", date: newest },
    ...[...folders, ...config.channels.map(channelPage), "changes/", "feeds/", "api/reference/"].map(
      (path) => ({ path, date: undefined }),
    ),
    ...pieces.flatMap((piece) => [
      { path: `releases/${piece.version}/`, date: timeOf(piece) },
      { path: `changes/${piece.version}/`, date: timeOf(piece) },
    ]),
    ...parts.map(({ folder }) => ({ path: `page/${folder}`, date: undefined })),
  ];
}
