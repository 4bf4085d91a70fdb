import type { ObjectHeaders, ObjectInfo } from "./object-store.ts";
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
  /** Files that nothing names any more, and since when. */
  leaving: Readonly<Record<string, string>>;
  /** What is there before; undefined for a site without anything. */
  before: SiteIndex | undefined;
}

/** What was kept of a publication, for the state and for going back. */
export interface Kept {
  files: string;
  bundles: string[];
}

/** Whether an earlier publish is there again; it may not be kept any more, or a kept file not be what it was. */
export type Restored = "whole" | "gone" | { changed: string };

export interface StoredState {
  state: SiteState;
  /** For `writeState`. */
  tag: string;
}

/** Says that the publisher is still at it. @param when "now": before what cannot be taken back */
export type Heartbeat = (when?: "now") => Promise<void>;

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
  /** What really is there, for a site that somebody left half-way. @param known what was published, or begun */
  survey(known: readonly SiteIndex[]): Promise<SiteIndex["files"]>;
  /** A public file that is there now. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** An artifact, or any other file beside the site's own. */
  head(path: string): Promise<Pick<ObjectInfo, "size" | "sha256"> | undefined>;
  /** Names of the files below metadata/. */
  metadataNames(): Promise<string[]>;
  /**
   * Makes a publication public. `heartbeat` is called between two writes.
   * @throws RelcatError site-taken, object-taken, storage-refused, network
   */
  publish(publication: Publication, run: string, heartbeat: Heartbeat): Promise<Kept>;
  /** Puts the public files of an earlier publish into an empty folder. */
  restore(files: string, folder: string): Promise<Restored>;
  /** Removes what no entry of the history needs, and public files whose time has come. */
  prune(kept: readonly Kept[], gone: readonly string[]): Promise<number>;
}
