import type { ReleaseDocument } from "../documents/site.ts";

/** An artifact that the new list names. */
export interface NamedArtifact {
  id: number;
  version: string;
  file: string;
  url: string;
  /** null: unknown. */
  size: number | null;
  /** As in the record. */
  checksum: string;
  /** Lower-case hexadecimal; undefined: the record has another kind of checksum. */
  sha256: string | undefined;
}

/** Artifacts in the new release documents that the live ones do not contain. */
export function newlyNamed(
  documents: readonly { now: ReleaseDocument; before: ReleaseDocument | undefined }[],
): NamedArtifact[] {
  return documents.flatMap(({ now, before }) => {
    const known = new Map((before?.packages ?? []).map((record) => [record.id, record.checksum]));
    return now.packages.flatMap((record) => {
      const artifact = now.artifacts[record.id];
      const same = before?.artifacts[record.id];
      const isKnown =
        known.get(record.id) === record.checksum &&
        same?.url === artifact?.url &&
        same?.size === artifact?.size;
      if (!artifact || isKnown) return [];
      return [namedArtifact(now.version, record, artifact)];
    });
  });
}

export function namedArtifact(
  version: string,
  { id, checksum }: Pick<NamedArtifact, "id" | "checksum">,
  { file, url, size }: Pick<NamedArtifact, "file" | "url" | "size">,
): NamedArtifact {
  const sha256 = /^[0-9a-f]{64}$/i.test(checksum) ? checksum.toLowerCase() : undefined;
  return { id, version, file, url, size, checksum, sha256 };
}
