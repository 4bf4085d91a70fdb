import type { Place } from "../../shared/errors.ts";
import type { Architecture, ArtifactDocument, PackageMetadata } from "../../shared/package-metadata.ts";
import type { Note } from "../documents/note.ts";
import type { RecordContent, RecordData } from "../documents/package-record.ts";
import type { Inspected } from "../documents/policy.ts";
import type { RepositoryName } from "./repository-name.ts";
import type { Verbatim } from "./verbatim.ts";

/** The part that ids, completeness and the ledger need. A build keeps only this of every release. */
export interface ArtifactOutline {
  /** With the version, the identity of the artifact. */
  file: string;
  /** null: built from artifact_url of the configuration. */
  url: string | null;
  /** In bytes. */
  size: number | null;
  /** The record without `data`. */
  content: Omit<RecordContent, "data">;
  /** SHA-256 of the record's published JSON, without id and dates, and with sorted keys in `data`. */
  contentHash: string;
  /** The name under which a package repository lists it. */
  repository?: RepositoryName | undefined;
  /** Absent if it is not known. */
  arch?: Architecture | undefined;
  /** Kinds of its documents; absent without documents. */
  documentKinds?: readonly ArtifactDocument["kind"][] | undefined;
  /** Its manifest, and its index in that manifest. */
  origin: { manifest: string; index: number };
  place(): Place;
}

/** An artifact with all defaults: everything that the release's files say about its record. */
export interface Artifact extends ArtifactOutline {
  data: RecordData;
  /** Fields that an imported record states differently. */
  verbatim?: Verbatim | undefined;
  /** Metadata that the package contains; not part of the record. */
  metadata?: PackageMetadata | undefined;
  /** Files next to the artifact that describe it; not part of the record. */
  documents?: readonly ArtifactDocument[] | undefined;
  /** Results of the inspection at ingest; not part of the record. */
  inspected?: Inspected | undefined;
}

/** The part of a release that ids, completeness and the ledger need. */
export interface OutlinedRelease<A extends ArtifactOutline = ArtifactOutline> {
  version: string;
  folder: string;
  date: string;
  summary: string | null;
  /** Day of the last correction of its published notes. */
  corrected?: string | undefined;
  /** Notes about vulnerabilities; absent: none. */
  securityNotes?: readonly Note[];
  /** In the order of id assignment. */
  artifacts: A[];
  /** True if all files were readable and all types known. */
  complete: boolean;
}

export interface Release extends OutlinedRelease<Artifact> {
  notes: Note[];
}
