import { platformFolder } from "../../documents/package-types.ts";
import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { platformName } from "./artifact-view.ts";
import { byName } from "./by-name.ts";
import { downloadGroups } from "./download-groups.ts";
import { downloadsPage } from "./list-parts.ts";
import { page, pageLayout } from "./page-layout.ts";
import type { PageModel } from "./page-models.ts";
import { type PagePieces, relinked } from "./page-pieces.ts";
import type { Templates } from "./templates.ts";

/** A package type's artifacts in its highest version. */
interface Newest {
  type: string;
  release: PagePieces;
  /** Their positions among the release's artifacts. */
  positions: readonly number[];
}

/**
 * `platforms/`, and a page for each platform that ever had artifacts.
 * @param pieces newest first
 */
export function* platformPages(
  pieces: readonly PagePieces[],
  config: SiteConfig,
  templates: Templates,
): Generator<OutputFile> {
  const platforms = platformsOf(pieces, config);
  for (const { name, types } of platforms) yield platformPage(name, types, config, templates);
  const path = "platforms/index.html";
  yield page(path, "platforms", templates, () => ({
    layout: pageLayout(path, { title: "Platforms", provisional: versionsOf(platforms) }, config, templates),
    platforms: platforms.map(({ name, types }) => ({
      href: `${platformFolder(name)}/`,
      name,
      newest: highest(types),
      types: types.map(({ type }) => type),
    })),
  }));
}

/** Names of the platforms that have a page, in their order. */
export const platformNames = (pieces: readonly PagePieces[], config: SiteConfig): string[] =>
  platformsOf(pieces, config).map(({ name }) => name);

interface Platform {
  name: string;
  types: Newest[];
}

/** Sorted by name, including platforms without current artifacts. */
const platformsOf = (pieces: readonly PagePieces[], config: SiteConfig): Platform[] =>
  [...newestByPlatform(pieces)]
    .map(([id, types]) => ({ name: platformName(id, config), types: [...types.values()].sort(byType) }))
    .sort(byName);

/** The newest artifacts of each platform and type by group, for home. */
export function newestGroups(
  pieces: readonly PagePieces[],
  config: SiteConfig,
): { groups: PageModel<"home">["groups"]; provisional: string[] } {
  const newest = [...newestByPlatform(pieces)].flatMap(([platform, types]) =>
    [...types.values()].map((each) => ({ ...each, platform, packageType: each.type })),
  );
  const groups = downloadGroups(newest, config).map(({ group, files }) => ({
    ...group,
    platforms: [...new Set(files.map(({ platform }) => platformName(platform, config)))].map((name) => {
      return { href: `platforms/${platformFolder(name)}/`, text: name };
    }),
    rowsHtml: files.map((each) => shownRows(each, "")).join(""),
    installsHtml: files.map(installsOf).join(""),
  }));
  return { groups, provisional: versionsOf([{ types: newest }]) };
}

function newestByPlatform(pieces: readonly PagePieces[]): Map<number, Map<string, Newest>> {
  const platforms = new Map<number, Map<string, Newest>>();
  for (const release of pieces) {
    for (const id of release.platforms) if (!platforms.has(id)) platforms.set(id, new Map());
    for (const { platform, packageType: type } of release.artifacts) {
      const types = platforms.get(platform);
      if (types?.has(type)) continue;
      const positions = release.artifacts.flatMap((other, position) =>
        other.platform === platform && other.packageType === type ? [position] : [],
      );
      types?.set(type, { type, release, positions });
    }
  }
  return platforms;
}

const byType = (a: Newest, b: Newest): number => (a.type < b.type ? -1 : 1);

const highest = (types: readonly Newest[]): string | null =>
  types.reduce<string | null>(
    (high, { release }) => (high === null || release.version > high ? release.version : high),
    null,
  );

/** Displayed provisional versions, newest first. */
const versionsOf = (platforms: readonly { types: readonly Newest[] }[]): string[] =>
  [...new Set(platforms.flatMap(({ types }) => provisional(types)))].sort().reverse();

const provisional = (types: readonly Newest[]): string[] =>
  types.filter(({ release }) => release.provisional).map(({ release }) => release.version);

function platformPage(
  name: string,
  types: readonly Newest[],
  config: SiteConfig,
  templates: Templates,
): OutputFile {
  const path = `platforms/${platformFolder(name)}/index.html`;
  return page(path, "platform", templates, () => ({
    layout: pageLayout(path, { title: name, provisional: versionsOf([{ types }]) }, config, templates),
    name,
    types: types.map((newest) => typeModel(newest, config)),
  }));
}

/** @param root the path from the page to the site's root */
const shownRows = ({ release, positions }: Newest, root: string): string =>
  chosen(release.rows(), positions)
    .map((row) => relinked(row, root))
    .join("");

const installsOf = ({ release, positions }: Newest): string => chosen(release.installs(), positions).join("");

/** At most as many as a page shows. */
const chosen = (texts: readonly string[], positions: readonly number[]): string[] =>
  positions.slice(0, downloadsPage.most).flatMap((position) => texts[position] ?? []);

const typeModel = (newest: Newest, config: SiteConfig): PageModel<"platform">["types"][number] => {
  const { type, release, positions } = newest;
  return {
    type,
    description: config.packageTypes.get(type)?.description ?? type,
    version: release.version,
    date: release.date,
    provisional: release.provisional,
    href: `../../releases/${release.version}/`,
    rowsHtml: shownRows(newest, "../../"),
    installsHtml: installsOf(newest),
    more: Math.max(positions.length - downloadsPage.most, 0),
  };
};
