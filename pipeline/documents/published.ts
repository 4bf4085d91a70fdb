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
  /** The same text in parts that stay the same from one build to the next. */
  parts?: () => Iterable<TextPart>;
}

/** A part of a file's text. */
export interface TextPart {
  /** Digest of all it is made of; null: not worth remembering. */
  key: string | null;
  text(): string;
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

/** What is at hand of each release while the others are made. */
export interface ReleaseOutline {
  /** Digest of all that its files are made of. */
  key: string;
  version: string;
  date: string;
  summary: string | null;
  provisional: boolean;
  /** Not retracted, id descending. */
  packages: readonly { id: number; platform: number; packageType: string }[];
  retracted: readonly RetractedRecord[];
  /** The whole release, made when it is asked for: kept, those of all releases would fill the memory. */
  open(): PublishedRelease;
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
