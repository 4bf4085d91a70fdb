import { feedKeyring } from "../../documents/feeds/keys.ts";
import type { FeedName } from "../../documents/feeds/settings.ts";
import { certificatePath, keysPath } from "../../documents/feeds/signing.ts";
import type {
  FeedConfig,
  FeedParts,
  OutputGroup,
  PublishedRelease,
  ReleaseSlices,
  SiteConfig,
} from "../../documents/published.ts";
import { type BuildCopies, type FeedsDocument, feedsPath } from "../../documents/site.ts";
import { digestOf } from "../../journal/digest.ts";
import { jsonFile, textFile } from "../output.ts";
import { aptFeed } from "./apt.ts";
import type { Feed } from "./feed.ts";
import { helmFeed } from "./helm.ts";
import { incusFeed } from "./incus.ts";
import { packslipFeed } from "./packslip.ts";
import { yumFeed } from "./yum.ts";

/** All feeds; a new one is a file next to this one and a row here. */
const feeds = [aptFeed, yumFeed, helmFeed, incusFeed, packslipFeed] as readonly Feed[];

const feedsOf = (config: FeedConfig): readonly Feed[] => feeds.filter(({ name }) => config.feeds[name]);

export const feedParts = (release: PublishedRelease, config: FeedConfig): FeedParts =>
  Object.fromEntries(feedsOf(config).map((feed) => [feed.name, feed.part(release, config)]));

function contentOf(feed: Feed, parts: readonly NonNullable<FeedParts[FeedName]>[], config: FeedConfig) {
  const rows = parts.flatMap((part) => part.rows);
  const indexes = feed.indexes(rows, config);
  const omitted = parts.flatMap((part) => part.omitted);
  return { feed: feed.name, indexes, omitted, replaced: indexes.flatMap((index) => index.replaced) };
}

/** @param releases newest first */
export const feedContents = (releases: readonly PublishedRelease[], config: FeedConfig) =>
  feedsOf(config).map((feed) => {
    const parts = releases.map((release) => feed.part(release, config));
    return contentOf(feed, parts, config);
  });

type Releases = readonly { slices: Pick<ReleaseSlices, "feeds"> }[];

const partsOf = (feed: Feed, releases: Releases) =>
  releases.flatMap(({ slices }) => slices.feeds()[feed.name] ?? []);

const rowsOf = (feed: Feed, releases: Releases) => partsOf(feed, releases).flatMap(({ rows }) => rows);

/** @param releases newest first */
export const feedTags = (releases: Releases, config: FeedConfig): ReadonlyMap<string, string> =>
  new Map(feedsOf(config).flatMap((feed) => [...(feed.tags?.(rowsOf(feed, releases), config) ?? [])]));

/** @param releases newest first */
export const feedCopies = (releases: Releases, config: FeedConfig): BuildCopies =>
  Object.assign({}, ...feedsOf(config).map((feed) => feed.copies?.(rowsOf(feed, releases), config)));

/** @param releases newest first */
export function* feedGroups(
  releases: Releases,
  config: SiteConfig,
  isSigned: boolean,
): Generator<OutputGroup> {
  if (config.feeds.apt || config.feeds.yum) yield keyGroup(config);
  for (const feed of feedsOf(config)) yield* feed.groups(rowsOf(feed, releases), config, isSigned);
  if (feedsOf(config).length === 0) return;
  // Tells people why a record is in no package repository, and `verify` that this is not a fault.
  const document: FeedsDocument = { schema_version: 1, feeds: leftOutOfFeeds(releases, config) };
  yield { name: "feeds", key: digestOf(document), files: [jsonFile(feedsPath, document)] };
}

/** @param releases newest first */
export const leftOutOfFeeds = (releases: Releases, config: FeedConfig): FeedsDocument["feeds"] =>
  feedsOf(config).map((feed) => {
    const { omitted, replaced } = contentOf(feed, partsOf(feed, releases), config);
    return { feed: feed.name, left_out: [...omitted, ...replaced] };
  });

/** The certificates that clients of apt and yum repositories get: together, and each under its fingerprint. */
function keyGroup({ product, feedKeys }: SiteConfig): OutputGroup {
  const offered = feedKeys.filter(({ state }) => state !== "retired");
  const files = offered.map(({ fingerprint, armored }) => textFile(certificatePath(fingerprint), armored));
  if (files.length > 0) files.push(textFile(keysPath(product), feedKeyring(feedKeys)));
  return { name: "feed keys", key: digestOf(product, feedKeys), files };
}
