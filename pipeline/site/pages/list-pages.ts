import { platformFolder } from "../../../shared/package-types.ts";
import { keysPath } from "../../documents/feeds/signing.ts";
import type { OutputFile, OutputGroup, RepositoryOffer, SiteConfig } from "../../documents/published.ts";
import { searchPaths } from "../../documents/site-paths.ts";
import { digestOf } from "../../journal/digest.ts";
import { hasPackages, offeredIn } from "../../selection/channels.ts";
import { escapeHtml } from "../escape.ts";
import { joinedFile } from "../output.ts";
import { checksumDigits } from "../search-index.ts";
import { supportText } from "../support-dates.ts";
import { browsablePage } from "./browsable-pages.ts";
import { changesPage, comparePage } from "./changes-pages.ts";
import { channelPage, channelPages } from "./channel-pages.ts";
import { downloadGroups } from "./download-groups.ts";
import { browsableRows, downloadRows, type ListPart, listParts, type ReleaseSlice } from "./list-parts.ts";
import { type PageSite, page, rootOf } from "./page-layout.ts";
import type { PageModel } from "./page-models.ts";
import { type PagePieces, provisionalVersions, relinked } from "./page-pieces.ts";
import { newestGroups, platformNames, platformPages } from "./platform-pages.ts";
import { releasesPage, shownOf } from "./releases-page.ts";
import { repositoriesOf, repositoryViews } from "./repositories.ts";
import type { Templates } from "./templates.ts";

export { type PagePieces, releasePieces } from "./page-pieces.ts";

/**
 * Pages of past months keep their keys, so a new release does not render them again.
 * @param pieces newest first
 * @param basis digest of configuration and templates
 */
export function* pageGroups(
  pieces: readonly PagePieces[],
  basis: string,
  config: SiteConfig,
  templates: Templates,
): Generator<OutputGroup> {
  const site = { config, templates };
  const parts = listParts(pieces, downloadRows);
  for (const part of parts) {
    const others = partsBelow(part, parts);
    const key = digestOf(basis, slicesOf(part), others.map(slicesOf));
    yield { name: `month ${part.folder}`, key, files: [monthPage(part, others, site)] };
  }
  const all = digestOf(basis, ...pieces.map(({ key }) => key));
  const offered = offeredIn(pieces, config.channels[0]).filter(hasPackages);
  yield { name: "platforms", key: all, files: platformPages(pieces, site) };
  const [newestPart, ...olderParts] = listParts(pieces, browsableRows);
  for (const part of [...olderParts, newestPart]) {
    const path = `api/v1/package/${part === newestPart ? "" : `page/${part?.folder}`}index.html`;
    // Only the first page links to the others, which would otherwise change with every new month.
    const others = part === newestPart ? olderParts : [];
    const key = digestOf(basis, part && slicesOf(part), others.map(slicesOf));
    yield { name: `browsable ${path}`, key, files: [browsablePage(path, part, others, site)] };
  }
  for (const [index, piece] of pieces.entries()) {
    const previous = pieces[index + 1];
    const key = digestOf(basis, piece.key, previous?.key);
    yield { name: `changes ${piece.version}`, key, files: [changesPage(piece, previous, site)] };
  }
  const newest = newestGroups(pieces, config);
  const files = [
    ...channelPages(pieces, site),
    latestRedirect(offered, site),
    releasesPage(pieces, site),
    comparePage(site),
    siteMap(pieces, parts, config),
    notFound(site),
    searchPage(pieces, site),
    feedsPage(newest.offers, site),
    home(offered, newest, parts, site),
  ];
  yield { name: "entrances", key: all, files };
}

const slicesOf = ({ label, folder, slices }: ListPart) => [
  label,
  folder,
  slices.map(({ release, from, to }) => [release.key, from, to]),
];

/** Other parts of the month, linked from its newest one. */
const partsBelow = ({ folder }: ListPart, parts: readonly ListPart[]): ListPart[] =>
  isPart(folder) ? [] : parts.filter((other) => other.folder !== folder && other.folder.startsWith(folder));

const isPart = (folder: string) => folder.split("/").length > 2;

function home(
  pieces: readonly PagePieces[],
  { groups, provisional }: ReturnType<typeof newestGroups>,
  parts: readonly ListPart[],
  site: PageSite,
): OutputFile {
  const { config } = site;
  const [newest] = pieces;
  return page("index.html", "home", { title: "", filtered: true, provisional }, site, (layout) => ({
    layout,
    newest: newest
      ? {
          version: newest.version,
          date: newest.date,
          href: `releases/${newest.version}/`,
          support: supportText(newest.version, config),
        }
      : null,
    groups,
    channels: config.channels.map((name) => ({ href: channelPage(name), text: name })),
    months: parts.map(({ folder, label }) => ({ href: `page/${folder}`, text: label })),
    all: "releases/",
    compare: "changes/",
  }));
}

/** A month names no other month, and its older parts name only the newest, so later releases do not change them. */
function monthPage(
  { folder, label, slices }: ListPart,
  others: readonly ListPart[],
  site: PageSite,
): OutputFile {
  const path = `page/${folder}index.html`;
  const root = rootOf(path);
  const provisional = provisionalVersions(slices.map(({ release }) => release));
  const head = { title: `Releases of ${label}`, filtered: true, provisional };
  return page(path, "month", head, site, (layout) => ({
    layout,
    month: label,
    releases: slices.map((slice) => listed(slice, root, site.config)),
    parts: others.map((other) => ({ href: other.folder.slice(folder.length), text: other.label })),
    newest: isPart(folder) ? "../" : "",
    home: root,
    all: `${root}releases/`,
  }));
}

function latestRedirect(pieces: readonly PagePieces[], site: PageSite): OutputFile {
  const newest = pieces[0] && { version: pieces[0].version, href: `../${pieces[0].version}/` };
  const head = { title: "Newest release", refresh: newest?.href };
  return page("releases/latest/index.html", "latest", head, site, (layout) => ({
    layout,
    newest: newest ?? null,
    all: "../",
  }));
}

function searchPage(pieces: readonly PagePieces[], site: PageSite): OutputFile {
  const count = pieces.reduce((sum, { packages, retracted }) => sum + packages.length + retracted.length, 0);
  return page(searchPaths.page, "search", { title: "Search", script: "search" }, site, (layout) => ({
    layout,
    all: "../releases/",
    digits: String(checksumDigits(count)),
  }));
}

/** Served at any depth, so its links start at the site's base path. */
function notFound(site: PageSite): OutputFile {
  const base = new URL(site.config.baseUrl).pathname.replace(/^\/+|\/+$/g, "");
  const root = base === "" ? "/" : `/${base}/`;
  return page("404.html", "not-found", { title: "Page not found", root }, site, (layout) => ({
    layout,
    home: root,
    all: `${root}releases/`,
    platforms: `${root}platforms/`,
  }));
}

/** @param root the path from the page to the site's root */
function listed(
  { release, from, to }: ReleaseSlice,
  root: string,
  config: SiteConfig,
): PageModel<"month">["releases"][number] {
  const [rows, architectures] = [release.slices.rows(), release.architectures()];
  const files = release.packages.map((artifact, index) => {
    return { ...artifact, arch: architectures[index], row: rows[index] ?? "" };
  });
  const ordered = downloadGroups(files, config).flatMap((group) => group.files);
  return {
    ...shownOf(release, root),
    href: `${root}releases/${release.version}/`,
    count: to - from,
    continued: from > 0,
    rowsHtml: ordered
      .slice(from, to)
      .map(({ row }) => relinked(row, root))
      .join(""),
  };
}

function feedsPage(offers: readonly RepositoryOffer[], site: PageSite): OutputFile {
  const { baseUrl, product, feedKeys } = site.config;
  const description = `News of ${product} releases for feed readers, and package repositories.`;
  return page("feeds/index.html", "feeds", { title: "Feeds", description }, site, (layout) => ({
    layout,
    atom: `${baseUrl}/feed.atom`,
    json: `${baseUrl}/feed.json`,
    repositories: repositoryViews(repositoriesOf(site.config), offers),
    keys: feedKeys.length > 0 ? `${baseUrl}/${keysPath(product)}` : "",
  }));
}

/** The limit of https://www.sitemaps.org/protocol.html. */
const maxAddresses = 50_000;

/** `sitemap.xml`: the pages that a search engine should show, newest first. @param pieces newest first */
function siteMap(pieces: readonly PagePieces[], parts: readonly ListPart[], config: SiteConfig): OutputFile {
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
  const newest = pieces.map(timeOf).sort().at(-1);
  const folders = platformNames(pieces, config).map((name) => `platforms/${platformFolder(name)}/`);
  return [
    ...["", "releases/", "platforms/"].map((path) => ({ path, date: newest })),
    ...[...folders, ...config.channels.map(channelPage), "changes/", "feeds/", "api/reference/"].map(
      (path) => ({ path, date: undefined }),
    ),
    ...pieces.flatMap((piece) =>
      ["releases", "changes"].map((name) => ({ path: `${name}/${piece.version}/`, date: timeOf(piece) })),
    ),
    ...parts.map(({ folder }) => ({ path: `page/${folder}`, date: undefined })),
  ];
}
