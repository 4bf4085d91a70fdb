import type { FeedName } from "../../documents/feeds.ts";
import type {
  FeedRows,
  OutputGroup,
  PublishedRelease,
  ReleaseSlices,
  SiteConfig,
} from "../../documents/published.ts";
import type { BuildCopies } from "../../documents/site.ts";
import { aptFeed } from "./apt.ts";
import type { Feed, ListedInFeed, OmittedPackage } from "./feed.ts";
import { helmFeed } from "./helm.ts";
import { incusFeed } from "./incus.ts";
import { keyGroup } from "./keys.ts";
import { yumFeed } from "./yum.ts";

/** All feeds; a new one is a file next to this one and a row here. */
const feeds: readonly Feed[] = [aptFeed as Feed, yumFeed as Feed, helmFeed as Feed, incusFeed as Feed];

const feedsOf = (config: SiteConfig): readonly Feed[] => feeds.filter(({ name }) => config.feeds[name]);

/** A release's rows in each feed that is on. */
export const feedRows = (release: PublishedRelease, config: SiteConfig): FeedRows =>
  Object.fromEntries(feedsOf(config).map((feed) => [feed.name, feed.part(release, config).rows]));

/** The packages of a feed, and the records of its formats that it leaves out. */
export interface FeedContent {
  feed: FeedName;
  listed: ListedInFeed[];
  omitted: OmittedPackage[];
}

/** @param releases newest first */
export const feedContents = (releases: readonly PublishedRelease[], config: SiteConfig): FeedContent[] =>
  feedsOf(config).map((feed) => {
    const parts = releases.map((release) => feed.part(release, config));
    const rows = parts.flatMap((part) => part.rows);
    const omitted = [...parts.flatMap((part) => part.omitted), ...(feed.omitted?.(rows, config) ?? [])];
    return { feed: feed.name, listed: feed.listed(rows, config), omitted };
  });

type FeedSlices = readonly Pick<ReleaseSlices, "feeds">[];

const rowsOf = (feed: Feed, releases: FeedSlices) =>
  releases.flatMap((slices) => slices.feeds()[feed.name] ?? []);

/** Digests of an OCI registry's tags, by path. @param releases newest first */
export const feedTags = (releases: FeedSlices, config: SiteConfig): ReadonlyMap<string, string> =>
  new Map(feedsOf(config).flatMap((feed) => [...(feed.tags?.(rowsOf(feed, releases), config) ?? [])]));

/** Copies of artifacts that feeds contain, by path. @param releases newest first */
export const feedCopies = (releases: FeedSlices, config: SiteConfig): BuildCopies =>
  Object.assign({}, ...feedsOf(config).map((feed) => feed.copies?.(rowsOf(feed, releases), config)));

/** @param releases newest first */
export function* feedGroups(
  releases: FeedSlices,
  config: SiteConfig,
  isSigned: boolean,
): Generator<OutputGroup> {
  if (config.feeds.apt || config.feeds.yum) yield keyGroup(config);
  for (const feed of feedsOf(config)) yield* feed.groups(rowsOf(feed, releases), config, isSigned);
}
