import { maxSmallFileBytes, readSmall } from "../../inspect/bytes/byte-source.ts";
import type { ArtifactDocument } from "../../shared/package-metadata.ts";
import type { FileSource } from "../system/file-source.ts";

/**
 * Compares a document with what its manifest says.
 * @param sha256 digest of the artifact that it belongs to
 * @returns a clause that says how it differs; undefined: it is the stated one
 * @throws only what the source throws
 */
export async function documentFault(
  stated: ArtifactDocument,
  source: FileSource,
  sha256: string,
): Promise<string | undefined> {
  if (source.size !== stated.size) return `has ${source.size} bytes, expected ${stated.size}`;
  const found = await source.sha256();
  if (found !== stated.sha256) return `has the SHA-256 ${found}, expected ${stated.sha256}`;
  if (stated.format !== "helm-prov") return undefined;
  if (source.size > maxSmallFileBytes)
    return `has ${source.size} bytes, expected at most ${maxSmallFileBytes}`;
  return signsDigest(readSmall(source), sha256)
    ? undefined
    : `does not contain the SHA-256 of its chart, ${sha256}`;
}

/** Whether a provenance file contains the digest of this chart. Its signature is not checked. */
export const signsDigest = (provenance: Uint8Array, sha256: string): boolean =>
  Buffer.from(provenance).includes(`sha256:${sha256}`);
