import type { Architecture, ArtifactDocument, PackageMetadata } from "../../shared/package-metadata.ts";
import type { Config, Settings } from "./config.ts";
import type { FeedName } from "./feeds/settings.ts";
import type { Advisory, Note } from "./note.ts";
import type { WireRecord } from "./package-record.ts";
import type { FeedsDocument, RetractedRecord } from "./site.ts";

/** A file of the site. Its bytes are created on demand, and are the same each time. */
export interface OutputFile {
  /** Relative to the site's root, with forward slashes. */
  path: string;
  chunks: Iterable<Uint8Array>;
  /** An earlier file of the same group with the same bytes. */
  sameAs?: string;
}

export interface OutputGroup {
  name: string;
  /** Digest of all inputs: an equal key means equal bytes. */
  key: string;
  files: Iterable<OutputFile>;
}

export interface PublishedPackage {
  record: WireRecord;
  /** Published form of an imported record, if `record` cannot express it. */
  published?: Readonly<Record<string, unknown>>;
  /** The record's JSON text, which every document repeats. */
  json: string;
  file: string;
  url: string;
  /** In bytes; null: the manifest has no size. */
  size: number | null;
  metadata?: PackageMetadata;
  documents?: readonly ArtifactDocument[];
}

/** An artifact in a package repository of the site. Words of commands are quoted for a shell. */
export interface RepositoryOffer {
  /** Name of the repository. */
  repository: string;
  /** Command that installs this artifact; absent if its pages do not show it. */
  exact?: string | undefined;
  newest: string;
}

/** A release's part of each feed that is on; rows are plain data of the feed's own format. */
export type FeedParts = Partial<
  Record<FeedName, { rows: readonly unknown[]; omitted: FeedsDocument["feeds"][number]["left_out"] }>
>;

interface ReleaseHead {
  version: string;
  date: string;
  /** Time of its cut; absent before. */
  releasedAt?: string | undefined;
  summary: string | null;
  /** Day of the last correction of its notes. */
  corrected?: string | undefined;
  /** True if any id, date or content is not yet permanent. */
  provisional: boolean;
  /** Withdrawn records, id descending. */
  retracted: readonly RetractedRecord[];
  /** In the order of catalog.yaml; absent: the project has none. */
  channels?: readonly ReleaseChannel[] | undefined;
}

/** The public part of a release, without private records. */
export interface PublishedRelease extends ReleaseHead {
  notes: Note[];
  /** Not retracted, id descending. */
  packages: PublishedPackage[];
  /** The retracted ones, as they were listed; absent if only the notes of the release are shown. */
  withdrawn?: PublishedPackage[];
  /** Replacement records by id. */
  replacements: ReadonlyMap<number, { version: string; name: string }>;
  /** Public events of each record by id, oldest first. */
  histories: ReadonlyMap<number, readonly RecordEvent[]>;
}

export interface ReleaseChannel {
  name: string;
  /** Time of its promotion; null before the first promotion of the ledger. */
  promoted: string | null;
  /** null: it is offered. */
  halt: { reason: string; at: string } | null;
  /** Time of its last line in the ledger; null if it has none. */
  changed: string | null;
}

export interface RecordEvent {
  kind: "added" | "revised" | "withdrawn" | "reinstated";
  at: string;
  /** The reason of a withdrawal; otherwise empty. */
  reason: string;
}

/** The part of a release that stays in memory, because pages and lists across releases need it. */
export interface ReleaseSummary extends ReleaseHead {
  /** Notes about vulnerabilities; absent: none. */
  securityNotes?: readonly Note[];
  /** Not retracted, id descending. */
  packages: readonly { id: number; platform: number; packageType: string }[];
}

/** A release's part of the files that span releases. Each list is in the order of the release's packages. */
export interface ReleaseSlices {
  /** The records' wire JSON. */
  records(): readonly string[];
  /** A row of a page's table for each record. */
  rows(): readonly string[];
  offers(): readonly (readonly RepositoryOffer[])[];
  /** Release notes as HTML, for a page two folders deep. */
  notes(): string;
  /** Each record as browsable JSON. */
  browsable(): readonly string[];
  facts(): ReleaseFacts;
  feeds(): FeedParts;
  search(): SearchSlice;
}

/** A file as the search over all releases finds it. */
export interface SearchedFile {
  id: number;
  name: string;
  /** Empty if it is the name. */
  file: string;
  checksum: string;
}

/** Texts of a release that the search over all releases finds; withdrawn files are in the summary. */
export interface SearchSlice {
  files: readonly SearchedFile[];
  /** Summary and notes, as plain text. */
  notes: readonly string[];
}

export interface ReleaseFacts {
  /** Null for a release that is too old for the feeds. */
  feed: FeedEntry | null;
  packages: readonly ListedPackage[];
}

/** A package as lists and hosts refer to it. */
export interface ListedPackage extends Pick<PublishedPackage, "file" | "url" | "size"> {
  record: Omit<WireRecord, "data">;
  /** The fields as they are published, without `data`. */
  row: Readonly<Record<string, unknown>>;
  /** Absent if it is not known. */
  arch?: Architecture;
  packageVersion?: string;
}

export interface FeedEntry {
  id: string;
  url: string;
  title: string;
  published: string;
  /** Later than `published` if something was withdrawn. */
  updated: string;
  html: string;
  /** Vulnerabilities that the release fixes; absent: its notes describe none. */
  advisories?: readonly Pick<Advisory, "id" | "severity">[];
}

/** A release whose own files have been rendered. */
export interface RenderedRelease extends ReleaseSummary {
  /** Digest of everything that its files and slices are generated from. */
  key: string;
  slices: ReleaseSlices;
}

/** The part of the configuration that emitters may use. */
export type SiteConfig = Pick<
  Config,
  | "product"
  | "brand"
  | "templates"
  | "baseUrl"
  | "authority"
  | "platforms"
  | "components"
  | "kinds"
  | "refs"
  | "wire"
  | "packageTypes"
  | "lines"
  | "security"
  | "channels"
  | "feeds"
  | "feedKeys"
  | "rpmSigners"
  | "trust"
  | "builder"
>;

/** The part that notes in other forms than pages need. */
export type NotesConfig = Pick<Settings, "product" | "components" | "kinds" | "refs">;

/** The part that decides which packages a feed lists. */
export type FeedConfig = Pick<Settings, "feeds" | "baseUrl" | "channels">;

/** Notes in display order: components and kinds as configured, without empty ones. */
export interface NoteSection {
  component: string;
  title: string;
  kinds: { kind: string; title: string; notes: Note[] }[];
}
