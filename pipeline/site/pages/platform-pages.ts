import { platformFolder } from "../../documents/package-types.ts";
import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { platformName } from "./artifact-view.ts";
import { byName } from "./by-name.ts";
import { mostRecords } from "./list-parts.ts";
import { page, pageLayout } from "./page-layout.ts";
import type { PageModel } from "./page-models.ts";
import type { PagePieces } from "./page-pieces.ts";
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

interface Platform {
  name: string;
  types: Newest[];
}

/** Sorted by name, including platforms without current artifacts. */
const platformsOf = (pieces: readonly PagePieces[], config: SiteConfig): Platform[] =>
  [...newestByPlatform(pieces)]
    .map(([id, types]) => ({ name: platformName(id, config), types: [...types.values()].sort(byType) }))
    .sort(byName);

/** Platforms with current artifacts. */
export const platformLinks = (pieces: readonly PagePieces[], config: SiteConfig, folder: string) =>
  platformsOf(pieces, config)
    .filter(({ types }) => types.length > 0)
    .map(({ name }) => ({ href: `${folder}${platformFolder(name)}/`, text: name }));

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

function chosenRows(release: PagePieces, positions: readonly number[]): string[] {
  const rows = release.rows();
  return positions.flatMap((position) => rows[position] ?? []);
}

const typeModel = (
  { type, release, positions }: Newest,
  config: SiteConfig,
): PageModel<"platform">["types"][number] => ({
  type,
  description: config.packageTypes.get(type)?.description ?? type,
  version: release.version,
  date: release.date,
  provisional: release.provisional,
  href: `../../releases/${release.version}/`,
  rowsHtml: chosenRows(release, positions.slice(0, mostRecords)).join(""),
  more: Math.max(positions.length - mostRecords, 0),
});
