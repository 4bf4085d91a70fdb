import { hash } from "node:crypto";
import type { IncusImage } from "../../../shared/package-metadata.ts";
import { isDiskOfIncus } from "../../policy/incus-digests.ts";
import type { FileWithNeighbours } from "../../policy/sibling-files.ts";
import { type IncusStatement, incusTarball } from "../../records/incus-tarball.ts";
import { hashedAlong } from "../../system/hash-while-reading.ts";

/** A file that is being read, and the digests that Incus compares, which need a pass over it. */
export interface IncusReading {
  opened: FileWithNeighbours;
  digests(): Promise<IncusImage>;
}

/** @returns undefined for files other than disks of QEMU */
export function incusReading(
  opened: FileWithNeighbours,
  statement: IncusStatement,
): IncusReading | undefined {
  if (!isDiskOfIncus(opened.file)) return undefined;
  const tarball = incusTarball(statement);
  const { file, digest } = hashedAlong(opened.file, tarball);
  const { os, release, variant, description } = statement;
  return {
    opened: { ...opened, file },
    digests: async () => ({
      ...{ os, release, variant, description },
      metadata_sha256: hash("sha256", tarball),
      metadata_size: tarball.length,
      combined_sha256: await digest(),
    }),
  };
}
