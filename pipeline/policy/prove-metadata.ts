import { type ByteSource, maxSmallFileBytes, readSmall } from "../../inspect/bytes/byte-source.ts";
import type { Inspection } from "../../inspect/inspection.ts";
import { readMetadata } from "../../inspect/metadata.ts";
import { Fault } from "../../inspect/verdict.ts";
import {
  type ArtifactDocument,
  isPrimaryFile,
  lateImageMembers,
  type PackageMetadata,
} from "../../shared/package-metadata.ts";
import type { Kind } from "../../shared/package-types.ts";
import { differingLeaves, leaves, shortly } from "../records/merge.ts";
import type { FileSource } from "../system/file-source.ts";

/** Members that may come from the configuration rather than from the bytes. */
const configured: readonly string[] = ["arch", "incus"];
const late: readonly string[] = lateImageMembers;

const maxShown = 3;

/** @returns the differing members with both values, in one line; undefined: there are none */
export function metadataDifferences(stated: PackageMetadata, read: PackageMetadata): string | undefined {
  const [claim, fact] = [leaves(stated), leaves(read)];
  const isOpen = (field: string) => {
    const member = field.split(".", 1).join("");
    return (
      (configured.includes(member) && !Object.hasOwn(read, member)) ||
      (late.includes(member) && !Object.hasOwn(stated, member))
    );
  };
  const fields = differingLeaves(claim, fact).filter((field) => !isOpen(field));
  if (fields.length === 0) return undefined;
  const shown = fields
    .slice(0, maxShown)
    .map((field) => `${field} ${inBoth(claim.get(field), fact.get(field))}`);
  return `${shown.join(", ")}${fields.length > maxShown ? ` and ${fields.length - maxShown} more` : ""}`;
}

/** A text with several lines is shown by the first lines that differ. */
function inBoth(claim: string | undefined, fact: string | undefined): string {
  const [one, other] = [claim, fact].map((leaf): unknown =>
    leaf === undefined ? undefined : JSON.parse(leaf),
  );
  if (typeof one !== "string" || typeof other !== "string" || !`${one}${other}`.includes("\n"))
    return `${shortly(claim)} ↔ ${shortly(fact)}`;
  const [lines, others] = [one.split("\n"), other.split("\n")];
  const at = lines.findIndex((line, index) => line !== others[index]);
  const line = at === -1 ? lines.length : at;
  const shown = (text: string | undefined) => shortly(text === undefined ? undefined : JSON.stringify(text));
  return `line ${line + 1} ${shown(lines[line])} ↔ ${shown(others[line])}`;
}

/**
 * @returns a clause that says how the file differs; undefined: the metadata is true
 * @throws only what the source throws
 */
export async function refuteMetadata(
  stated: PackageMetadata,
  source: ByteSource,
  { kind, inspection }: { kind: Kind; inspection?: Inspection | undefined },
): Promise<string | undefined> {
  // No format states the architecture of a plain file.
  if (stated.type === "archive") return undefined;
  const filelists = stated.type === "rpm" && stated.files.some(({ path }) => !isPrimaryFile(path));
  const changelogs = stated.type === "rpm" && stated.changelogs !== undefined;
  try {
    const read = await readMetadata(source, { kind, filelists, changelogs, inspection });
    const differences = read && metadataDifferences(stated, read);
    if (!read) return "its manifest has package, but the file states nothing";
    if (differences) return `package in its manifest is not what it states: ${differences}`;
    if (stated.type !== "image" || !stated.incus) return undefined;
    const { refuteDigests } = await import("./incus-digests.ts");
    return await refuteDigests(stated, source);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return `its package metadata cannot be read: ${error.message}`;
  }
}

/**
 * @param sha256 digest of the artifact that the document belongs to
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
