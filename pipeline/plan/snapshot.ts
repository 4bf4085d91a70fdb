import { channelStates } from "../channels/channel-states.ts";
import type { Config } from "../documents/config.ts";
import type { FeedName } from "../documents/feeds/settings.ts";
import type { Note } from "../documents/note.ts";
import type { ChannelState } from "../documents/outputs/ledger.ts";
import type { Plan, PlanRow } from "../documents/plan.ts";
import type { PublishedPackage, PublishedRelease } from "../documents/published.ts";
import type { RetractedRecord } from "../documents/site.ts";
import type { LiveRecord } from "../intake/import/read-records.ts";
import type { IdentifiedRelease } from "../ledger/assign-ids.ts";
import { digest, type Ledger } from "../ledger/ledger.ts";
import { publishRelease } from "../ledger/publish-records.ts";
import { isPrivate } from "../records/normalize.ts";
import { feedContents } from "../site/feeds/feeds.ts";

export interface ListedRecord {
  row: PlanRow;
  checksum: string;
  /** The record as it is published. */
  json: string;
  /** Address and size of its file; undefined if only a list is known. */
  download?: { url: string; size: number | null };
  /** Digests of the manifest data that records do not contain; undefined if no manifest is known. */
  facts?: { package: string | null; documents: string | null };
}

export type ReleaseFacts = Pick<PublishedRelease, "date" | "summary"> & { notes: readonly Note[] };

export interface Snapshot {
  listed: ReadonlyMap<number, ListedRecord>;
  retracted: ReadonlyMap<number, Plan["retracted"][number]>;
  /** undefined if only a list is known. */
  releases: ReadonlyMap<string, ReleaseFacts> | undefined;
  /** Ids of the packages in each index of each feed; undefined if only a list is known. */
  feeds: readonly FeedIndex[] | undefined;
  /** Empty: the project has none; undefined if only a list is known. */
  channels: readonly ChannelState[] | undefined;
  /** Content of private records; undefined if only a list is known. */
  hidden: ReadonlyMap<number, string> | undefined;
}

export interface FeedIndex {
  feed: FeedName;
  /** A suite of apt, or a repository of yum; "" for other feeds. */
  index: string;
  ids: ReadonlySet<number>;
}

export const emptySnapshot: Snapshot = {
  listed: new Map(),
  retracted: new Map(),
  releases: new Map(),
  feeds: [],
  channels: [],
  hidden: new Map(),
};

export function snapshotOf(releases: readonly IdentifiedRelease[], ledger: Ledger, config: Config): Snapshot {
  const published = releases.map((release) => publishRelease(release, ledger, config));
  const hidden = releases
    .flatMap(({ packages }) => packages)
    .filter(({ artifact }) => isPrivate(artifact.content));
  const retracted = published.flatMap((release) =>
    release.retracted.map((entry) => withdrawn(entry, release.version)),
  );
  return {
    listed: new Map(
      published.flatMap(({ packages }) => packages.map((entry) => [entry.record.id, listed(entry)])),
    ),
    retracted: new Map(retracted.map((entry) => [entry.id, entry])),
    releases: new Map(published.map((release) => [release.version, release])),
    feeds: feedIndexes(published, config),
    channels: channelStates(ledger, config.channels),
    hidden: new Map(hidden.map(({ id, artifact }) => [id, artifact.contentHash])),
  };
}

const feedIndexes = (published: readonly PublishedRelease[], config: Config): FeedIndex[] =>
  feedContents(published, config).flatMap(({ feed, indexes }) =>
    indexes
      .filter((index) => index.listed.length > 0)
      .map(({ name, listed }) => ({ feed, index: name, ids: new Set(listed.map(({ id }) => id)) })),
  );

function listed(entry: PublishedPackage): ListedRecord {
  const { record, json, file, url, size, metadata, documents } = entry;
  const { id, version, package_type, name, checksum } = record;
  const facts = {
    package: metadata ? digest(JSON.stringify(metadata)) : null,
    documents: documents ? digest(JSON.stringify(documents)) : null,
  };
  return { row: { id, version, package_type, name, file }, checksum, json, download: { url, size }, facts };
}

function withdrawn(entry: RetractedRecord, version: string): Plan["retracted"][number] {
  const { id, package_type, name, file, reason, replaced_by, at } = entry;
  return { id, version, package_type, name, file, reason, replaced_by, at };
}

export function snapshotOfList(records: readonly LiveRecord[]): Snapshot {
  const entries = records.map((record): [number, ListedRecord] => {
    const { id, version, package_type, name, checksum } = record;
    const row = { id, version, package_type, name, file: null };
    return [id, { row, checksum, json: JSON.stringify(record) }];
  });
  return {
    listed: new Map(entries),
    retracted: new Map(),
    releases: undefined,
    feeds: undefined,
    channels: undefined,
    hidden: undefined,
  };
}
