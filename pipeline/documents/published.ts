import type { Config } from "./config.ts";
import type { Note } from "./note.ts";
import type { WireRecord } from "./package-record.ts";
import type { RetractedRecord } from "./site.ts";

/** A file of the site. Its bytes are made when they are asked for, each time the same. */
export interface OutputFile {
  /** Relative to the site's root, forward slashes. */
  path: string;
  chunks: Iterable<Uint8Array>;
  /** An earlier file of the same group that has the same bytes. */
  sameAs?: string;
}

/** Files that are made of the same things. */
export interface OutputGroup {
  name: string;
  /** Digest of everything they are made of: under an equal key every run makes equal bytes. */
  key: string;
  files: Iterable<OutputFile>;
}

/** A listed package: its record and where its file lies. */
export interface PublishedPackage {
  record: WireRecord;
  /** An imported record as everybody reads it, where it says what no field of `record` can. */
  published?: Readonly<Record<string, unknown>>;
  /** The record's wire JSON: the very text every document repeats. */
  json: string;
  file: string;
  url: string;
  /** Bytes; null when the manifest does not say. */
  size: number | null;
}

/** A release as the public sees it: private records are not in here. */
export interface PublishedRelease {
  version: string;
  date: string;
  summary: string | null;
  notes: Note[];
  /** Something in it has no permanent id, date or content yet. */
  provisional: boolean;
  /** Not retracted, id descending. */
  packages: PublishedPackage[];
  /** Retracted, id descending. */
  retracted: RetractedRecord[];
  /** Where the records stand that replace them, by id. */
  replacements: ReadonlyMap<number, Replacement>;
}

/** The part of a release that pages and lists across releases need of each release at once. */
export interface ReleaseSummary {
  version: string;
  date: string;
  summary: string | null;
  provisional: boolean;
  /** Not retracted, id descending. */
  packages: readonly { id: number; platform: number; packageType: string }[];
  retracted: readonly RetractedRecord[];
}

/** A release's part of the files that span releases. Each list is in the order of the release's packages. */
export interface ReleaseSlices {
  /** The records' wire JSON. */
  records(): readonly string[];
  /** A row of a page's table for each record. */
  rows(): readonly string[];
  /** Each record as browsable JSON. */
  browsable(): readonly string[];
  facts(): ReleaseFacts;
}

/** The small slices of a release. */
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
}

/** A release's entry in the feeds. */
export interface FeedEntry {
  id: string;
  url: string;
  title: string;
  published: string;
  /** Later than published when something was withdrawn. */
  updated: string;
  html: string;
}

/** A release whose own files are rendered. */
export interface RenderedRelease extends ReleaseSummary {
  /** Digest of everything that its files and slices are made from. */
  key: string;
  slices: ReleaseSlices;
}

interface Replacement {
  version: string;
  name: string;
}

/** What emitters may know of the configuration. */
export type SiteConfig = Pick<
  Config,
  "product" | "baseUrl" | "authority" | "platforms" | "components" | "kinds" | "wire" | "packageTypes"
>;

/** Notes grouped as they are shown: components and kinds in the configured order, none of them empty. */
export interface NoteSection {
  component: string;
  title: string;
  kinds: { kind: string; title: string; notes: Note[] }[];
}
