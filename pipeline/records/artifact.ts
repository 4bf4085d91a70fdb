import type { Note } from "../documents/note.ts";
import type { RecordContent, RecordData } from "../documents/package-record.ts";
import type { Inspected } from "../documents/policy.ts";
import type { Place } from "../errors.ts";
import type { Verbatim } from "./verbatim.ts";

/** An artifact as far as ids, completeness and the ledger are concerned: what a build keeps of it. */
export interface ArtifactOutline {
  /** With the version, the artifact's identity. */
  file: string;
  /** The manifest's own URL; null: artifact_url of the configuration. */
  url: string | null;
  /** Bytes of the file people download. */
  size: number | null;
  /** The record without `data`. */
  content: Omit<RecordContent, "data">;
  /** SHA-256 of the record's wire JSON without id and dates, `data`'s keys sorted. */
  contentHash: string;
  /** The manifest that names it, and where in that one's list. */
  origin: { manifest: string; index: number };
  /** Its position in that manifest. */
  place(): Place;
}

/** An artifact with every default filled in: all that its release's files say about its record. */
export interface Artifact extends ArtifactOutline {
  data: RecordData;
  /** What an imported record says differently. */
  verbatim?: Verbatim | undefined;
  /** What the job that ingested it found in its bytes; not part of the record. */
  inspected?: Inspected | undefined;
}

/** A release as far as ids, completeness and the ledger are concerned. */
export interface OutlinedRelease<A extends ArtifactOutline = ArtifactOutline> {
  version: string;
  folder: string;
  date: string;
  summary: string | null;
  /** In allocation order. */
  artifacts: A[];
  /** Everything its files say is in here: nothing was unreadable or of an unknown type. */
  complete: boolean;
}

/** A release with its manifests merged. */
export interface Release extends OutlinedRelease<Artifact> {
  notes: Note[];
}
