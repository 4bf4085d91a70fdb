import type { FeedName } from "../documents/feeds/settings.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { publishRelease } from "../ledger/publish-records.ts";
import { unread } from "../site/feeds/feed.ts";
import { feedContents } from "../site/feeds/feeds.ts";
import { undigested } from "../site/feeds/incus.ts";

/** A record that a package feed leaves out. */
export interface FeedGap {
  feed: FeedName;
  id: number;
  version: string;
  file: string;
  /** A clause that completes "is not in the feed, because …". */
  reason: string;
  /** null: catalog.yaml or the manifest decides. */
  command: string | null;
}

/** Newest release first. */
export function feedGaps({ identified, ledger, config }: Catalog): FeedGap[] {
  if (Object.keys(config.feeds).length === 0) return [];
  const releases = identified.releases.map((release) => publishRelease(release, ledger, config)).reverse();
  const artifacts = new Map(
    identified.releases.flatMap(({ packages }) =>
      packages.map(({ id, artifact }) => [id, artifact] as const),
    ),
  );
  return feedContents(releases, config).flatMap(({ feed, omitted }) =>
    omitted.map(({ id, file, reason }) => {
      const artifact = artifacts.get(id);
      const version = artifact?.content.version ?? "";
      const command =
        reason === unread || reason === undigested
          ? `relcat ingest --fill ${version} --artifacts FOLDER`
          : null;
      return { feed, id, version, file, reason, command };
    }),
  );
}
