import { platformFolder } from "../../../shared/package-types.ts";
import type { OutputFile, RepositoryOffer, SiteConfig } from "../../documents/published.ts";
import { isOffered } from "../../selection/channels.ts";
import { supportText } from "../support-dates.ts";
import { platformName } from "./artifact-view.ts";
import { byArchitecture, downloadGroups } from "./download-groups.ts";
import { downloadRows } from "./list-parts.ts";
import { type PageSite, page } from "./page-layout.ts";
import type { PageModel } from "./page-models.ts";
import { type PagePieces, provisionalVersions, relinked } from "./page-pieces.ts";
import { type Repository, repositoriesOf, repositoryViews } from "./repositories.ts";

/** A package type's artifacts in its highest version. */
interface Newest {
  type: string;
  release: PagePieces;
  /** Their positions among the release's artifacts, the usual architectures first. */
  positions: readonly number[];
}

/** Each platform that ever had artifacts has a page. @param pieces newest first */
export function* platformPages(pieces: readonly PagePieces[], site: PageSite): Generator<OutputFile> {
  const platforms = platformsOf(pieces, site.config);
  const repositories = defaultRepositories(site.config);
  for (const { name, types } of platforms) {
    const path = `platforms/${platformFolder(name)}/index.html`;
    yield page(path, "platform", { title: name, provisional: versionsOf(types) }, site, (layout) => ({
      layout,
      name,
      types: types.map((newest) => typeModel(newest, repositories, site.config)),
    }));
  }
  const provisional = versionsOf(platforms.flatMap(({ types }) => types));
  yield page("platforms/index.html", "platforms", { title: "Platforms", provisional }, site, (layout) => ({
    layout,
    platforms: platforms.map(({ name, types }) => ({
      href: `${platformFolder(name)}/`,
      name,
      newest:
        types
          .map(({ release }) => release.version)
          .sort()
          .at(-1) ?? null,
      types: types.map(({ type }) => type),
    })),
  }));
}

const defaultRepositories = (config: SiteConfig): Repository[] =>
  repositoriesOf(config).filter(({ channel }) => channel === config.channels[0]);

/** Names of the platforms that have a page, in their order. */
export const platformNames = (pieces: readonly PagePieces[], config: SiteConfig): string[] =>
  platformsOf(pieces, config).map(({ name }) => name);

const platformsOf = (pieces: readonly PagePieces[], config: SiteConfig) =>
  [...newestByPlatform(pieces, config)]
    .map(([id, types]) => ({
      name: platformName(id, config),
      types: [...types.values()].sort((a, b) => (a.type < b.type ? -1 : 1)),
    }))
    .sort(byName);

/** The newest artifacts of each platform and type by group, for home, and the repositories that list them. */
export function newestGroups(
  pieces: readonly PagePieces[],
  config: SiteConfig,
): { groups: PageModel<"home">["groups"]; provisional: string[]; offers: RepositoryOffer[] } {
  const repositories = defaultRepositories(config);
  const newest = [...newestByPlatform(pieces, config)].flatMap(([platform, types]) =>
    [...types.values()].map((each) => ({ ...each, platform, packageType: each.type })),
  );
  const groups = downloadGroups(newest, config).map(({ group, files }) => ({
    ...group,
    platforms: [...new Set(files.map(({ platform }) => platformName(platform, config)))]
      .filter((name) => name !== group.name)
      .map((name) => ({ href: `platforms/${platformFolder(name)}/`, text: name })),
    rowsHtml: files.map((each) => shownRows(each, "")).join(""),
    repositories: offered(repositories, files.flatMap(offersOf)),
  }));
  return { groups, provisional: versionsOf(newest), offers: newest.flatMap(offersOf) };
}

/** Every platform, with the newest artifacts that the default channel offers. */
function newestByPlatform(
  pieces: readonly PagePieces[],
  { channels }: SiteConfig,
): Map<number, Map<string, Newest>> {
  const platforms = new Map<number, Map<string, Newest>>();
  for (const release of pieces) {
    for (const id of release.platforms) if (!platforms.has(id)) platforms.set(id, new Map());
    if (!isOffered(release, channels[0])) continue;
    for (const { platform, packageType: type } of release.packages) {
      const types = platforms.get(platform);
      if (types?.has(type)) continue;
      const positions = release.packages.flatMap((other, position) =>
        other.platform === platform && other.packageType === type ? [position] : [],
      );
      const architectures = release.architectures();
      positions.sort((a, b) => byArchitecture(architectures[a], architectures[b]));
      types?.set(type, { type, release, positions });
    }
  }
  return platforms;
}

/** Newest first. */
const versionsOf = (types: readonly Newest[]): string[] =>
  [...new Set(provisionalVersions(types.map(({ release }) => release)))].sort().reverse();

/** @param root the path from the page to the site's root */
const shownRows = ({ release, positions }: Newest, root: string): string =>
  chosen(release.slices.rows(), positions)
    .map((row) => relinked(row, root))
    .join("");

const offersOf = ({ release, positions }: Newest): RepositoryOffer[] =>
  chosen(release.slices.offers(), positions).flat();

const offered = (repositories: readonly Repository[], offers: readonly RepositoryOffer[]) =>
  repositoryViews(
    repositories.filter(({ name }) => offers.some(({ repository }) => repository === name)),
    offers,
  );

/** At most as many as a page shows. */
const chosen = <Part>(parts: readonly Part[], positions: readonly number[]): Part[] =>
  positions.slice(0, downloadRows.most).flatMap((position) => parts[position] ?? []);

function typeModel(
  newest: Newest,
  repositories: readonly Repository[],
  config: SiteConfig,
): PageModel<"platform">["types"][number] {
  const { type, release, positions } = newest;
  return {
    type,
    description: config.packageTypes.get(type)?.description ?? type,
    version: release.version,
    date: release.date,
    provisional: release.provisional,
    support: supportText(release.version, config),
    href: `../../releases/${release.version}/`,
    rowsHtml: shownRows(newest, "../../"),
    repositories: offered(repositories, offersOf(newest)),
    more: Math.max(positions.length - downloadRows.most, 0),
  };
}

/** Case-insensitive order, independent of the locale. */
function byName(a: { name: string }, b: { name: string }): number {
  const [left, right] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return left < right ? -1 : left > right ? 1 : 0;
}
