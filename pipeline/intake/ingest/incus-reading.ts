import { createHash, hash } from "node:crypto";
import type { IncusImage } from "../../../shared/package-metadata.ts";
import { isDiskOfIncus } from "../../policy/incus-digests.ts";
import type { FileWithNeighbours } from "../../policy/sibling-files.ts";
import { type IncusStatement, incusTarball } from "../../records/incus-tarball.ts";
import type { FileSource } from "../../system/file-source.ts";

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

/** The pass that computes the SHA-256 of the file also computes that of `before` and the file. */
export function hashedAlong(file: FileSource, before: Uint8Array) {
  let digest: string | undefined;
  const each: FileSource["each"] = async (take) => {
    if (digest !== undefined) return file.each(take);
    const hash = createHash("sha256").update(before);
    await file.each((chunk, at) => {
      hash.update(chunk);
      return take(chunk, at);
    });
    digest = hash.digest("hex");
  };
  // A pass is needed only if none has reached the end of the file.
  const pass = async () => {
    if (digest === undefined) await each(() => {});
    return digest ?? "";
  };
  return {
    file: {
      ...file,
      each,
      async sha256() {
        await pass();
        return file.sha256();
      },
    },
    digest: pass,
  };
}
