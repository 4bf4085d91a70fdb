import type { ObjectHeaders, ObjectInfo } from "./object-store.ts";
import type { PublishTurn } from "./publish-turn.ts";
import type { SiteIndex, SiteState } from "./site-state.ts";

/** A file that readers of a site may ask for. */
export interface PublicFile {
  path: string;
  sha256: string;
  size: number;
  headers: ObjectHeaders;
  /** Its path is never given to other bytes. */
  isImmutable: boolean;
}

/** What a publish does to a site's public files, in this order. */
export interface Changes {
  /** Nothing names them before the rest is there. */
  immutable: PublicFile[];
  /** Wave after wave: leaves before what leads to them, pages last. */
  mutable: PublicFile[][];
  /** The one file that makes everything else count; undefined for a site that is not signed. */
  last: PublicFile | undefined;
  removed: string[];
}

/** Files that are written anew, in the order of the changes. */
export const writtenFiles = ({ immutable, mutable, last }: Changes): PublicFile[] => [
  ...immutable,
  ...mutable.flat(),
  ...(last ? [last] : []),
];

/** What changes, out of everything that is public afterwards. */
export interface Publication {
  build: string;
  files: readonly PublicFile[];
  changes: Changes;
  /** Bytes of a public file, as they were checked. */
  read(path: string): Uint8Array;
  /** Folder that has them, with compressed siblings. */
  folder: string;
  /** What web servers read of the build, below hosting/: none of it is public. */
  hosting: readonly FileBytes[];
  /** Files that nothing names any more, and since when. */
  leaving: Readonly<Record<string, string>>;
  /** Those of them that have been leaving for long enough. */
  left: Readonly<Record<string, string>>;
  /** What is there before; undefined for a site without anything. */
  before: SiteIndex | undefined;
  /** Index of the last finished publish; undefined: none. */
  published: SiteIndex | undefined;
  /** Called for each file that was looked after. */
  onFile: () => void;
}

/** A file by what it must be. */
export interface FileBytes {
  path: string;
  sha256: string;
  size: number;
}

/** What was kept of a publication, for the state and for going back. */
export interface Kept {
  files: string;
  bundles: string[];
}

/** What a site keeps of an earlier publish. Nothing of it is proved. */
export interface KeptPublish {
  /** As its index has them. */
  files: SiteIndex["files"];
  /** Reads some of its files, those that are there, in any order; one of another length than `size` is left out. */
  read(wanted: Iterable<KeptFile>): AsyncIterable<{ path: string; bytes: Uint8Array }>;
}

/** A file of an earlier publish that is wanted. */
export interface KeptFile {
  path: string;
  /** undefined: not known yet. */
  size?: number | undefined;
}

export interface StoredState {
  state: SiteState;
  /** For `writeState`. */
  tag: string;
}

/** Something that is not as the last finished publish left it. */
export interface Damage {
  /** In the site, or in its books. */
  path: string;
  /** What was wrong with it, such as "was missing". */
  fault: string;
}

export interface SurveyRequest {
  /** What was published, or begun. */
  known: readonly SiteIndex[];
  /** The last finished publish, if nothing was begun since: what differs from it is damage. */
  newest: string | undefined;
  /** What web servers read of it; undefined where nobody here knows. */
  hosting: readonly FileBytes[] | undefined;
  /** Reads every file, instead of comparing what the store says of it. */
  isRead: boolean;
}

/** Where a site lies: a folder or a bucket. */
export interface SiteStore {
  place: string;
  /** Requests that were sent so far; 0 for a folder. */
  requests(): number;
  readState(): Promise<StoredState | undefined>;
  /** Replaces exactly what was read. @param tag undefined: there was none @returns the new tag */
  writeState(state: SiteState, tag: string | undefined): Promise<string | "changed">;
  /** What is public, as the last finished publish left it. */
  readIndex(files: string): Promise<SiteIndex | undefined>;
  /** What really is there. */
  survey(request: SurveyRequest): Promise<{ files: SiteIndex["files"]; damage: Damage[] }>;
  /** A public file that is there now. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** An artifact, or any other file beside the site's own. */
  head(path: string): Promise<Pick<ObjectInfo, "size" | "sha256"> | undefined>;
  /** Names of the files below metadata/. */
  metadataNames(): Promise<string[]>;
  /**
   * Makes a publication public, and proves the turn at each change that others see.
   * @throws RelcatError site-taken, object-taken, storage-refused, network
   */
  publish(publication: Publication, turn: PublishTurn): Promise<Kept>;
  /** Opens what is kept of an earlier publish; undefined where it is kept no more. */
  openKept(files: string): Promise<KeptPublish | undefined>;
  /**
   * Removes what no entry of the history needs, and public files that have been leaving for long enough; never what is
   * younger than a lease.
   * @param isOver whether what has been leaving since then may go
   * @throws RelcatError site-taken
   */
  prune(turn: PublishTurn, isOver: (since: string) => boolean): Promise<number>;
}
