import type { MeasuredFile, ObjectHeaders, ObjectInfo } from "./object-store.ts";
import type { PublishTurn } from "./publish-turn.ts";
import type { SiteIndex, SiteState } from "./site-state.ts";

/** A file that clients may request. */
export interface PublicFile extends FileBytes {
  headers: ObjectHeaders;
  /** True if its path is never reused for other bytes. */
  isImmutable: boolean;
  /** Path of the artifact at the site that it is a copy of; undefined: a file of the build. */
  from?: string;
}

/** Changes of a publish to public files, in this order. */
export interface Changes {
  /** Written first: nothing refers to them yet. */
  immutable: PublicFile[];
  /** In waves: linked files before those that link to them, pages last. */
  mutable: PublicFile[][];
  /** The file that activates everything else; undefined: the site is not signed. */
  last: PublicFile | undefined;
  removed: string[];
}

/** Files to write, in the order of the changes. */
export const writtenFiles = ({ immutable, mutable, last }: Changes): PublicFile[] => [
  ...immutable,
  ...mutable.flat(),
  ...(last ? [last] : []),
];

export interface Publication {
  build: string;
  files: readonly PublicFile[];
  changes: Changes;
  /** Verified bytes of a public file that is not a copy. */
  read(path: string): Uint8Array;
  /** Folder with these files and their compressed siblings. */
  folder: string;
  /** Web server configuration of the build, below hosting/; not public. */
  hosting: readonly FileBytes[];
  /** Unreferenced files, with the time since which they are. */
  leaving: Readonly<Record<string, string>>;
  /** Unreferenced files that may be removed now. */
  left: Readonly<Record<string, string>>;
  /** Current state; undefined: an empty site. */
  before: SiteIndex | undefined;
  /** Index of the last finished publish; undefined: none. */
  published: SiteIndex | undefined;
  /** Called for each processed file. */
  onFile: () => void;
}

export interface FileBytes extends MeasuredFile {
  path: string;
}

/** Stored data of a publication, for the state and for restores. */
export interface Kept {
  files: string;
  bundles: string[];
}

/** Stored data of an earlier publish, not verified. */
export interface KeptPublish {
  /** As in its index. */
  files: SiteIndex["files"];
  /** Reads the available files, in any order; files of another length than `size` are skipped. */
  read(wanted: Iterable<KeptFile>): AsyncIterable<{ path: string; bytes: Uint8Array }>;
}

export interface KeptFile {
  path: string;
  /** undefined: unknown. */
  size?: number | undefined;
}

export interface StoredState {
  state: SiteState;
  /** For `writeState`. */
  tag: string;
}

/** A difference from the last finished publish. */
export interface Damage {
  /** Path in the site, or in its stored data. */
  path: string;
  /** For example "was missing". */
  fault: string;
}

export interface SurveyRequest {
  /** Indexes of finished and started publishes. */
  known: readonly SiteIndex[];
  /** The last publish if it is finished; differences from it are damage. */
  newest: string | undefined;
  /** Its web server configuration; undefined: unknown. */
  hosting: readonly FileBytes[] | undefined;
  /** Read every file instead of comparing metadata. */
  isRead: boolean;
}

export interface SiteStore {
  place: string;
  /** Requests sent so far; 0 for a folder. */
  requests(): number;
  /** Milliseconds by which the storage's clock is ahead of ours, after a read; undefined: it tells no time. */
  clockOffset(): number | undefined;
  readState(): Promise<StoredState | undefined>;
  /** Replaces the state if it is unchanged. @param tag undefined: no state yet @returns the new tag */
  writeState(state: SiteState, tag: string | undefined): Promise<string | "changed">;
  readIndex(files: string): Promise<SiteIndex | undefined>;
  survey(request: SurveyRequest): Promise<{ files: SiteIndex["files"]; damage: Damage[] }>;
  read(path: string): Promise<Uint8Array | undefined>;
  /** Properties of an artifact or another file next to the site's own. */
  head(path: string): Promise<Pick<ObjectInfo, "size" | "sha256"> | undefined>;
  /** File names below metadata/. */
  metadataNames(): Promise<string[]>;
  /** Verifies the lease at each visible change. @throws RelcatError site-taken, object-taken, storage-refused, network */
  publish(publication: Publication, turn: PublishTurn): Promise<Kept>;
  /** Opens the stored data of an earlier publish; undefined: removed. */
  openKept(files: string): Promise<KeptPublish | undefined>;
  /**
   * Removes data that the history does not need, and long unreferenced public files, but nothing younger than
   * a lease.
   * @param isOver whether a file that has been unreferenced since that time may be removed
   * @throws RelcatError site-taken
   */
  prune(turn: PublishTurn, isOver: (since: string) => boolean): Promise<number>;
}
