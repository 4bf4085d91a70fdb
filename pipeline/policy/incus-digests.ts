import { createHash } from "node:crypto";
import type { ByteSource } from "../../inspect/bytes/byte-source.ts";
import { formatOf } from "../../inspect/images/disks/formats.ts";
import type { ImageMetadata } from "../../shared/package-metadata.ts";
import { incusTarball } from "../records/incus-tarball.ts";

/** Whether Incus can start the file as it is: it unpacks no compressed disks. */
export const isDiskOfIncus = (source: ByteSource): boolean => formatOf(source)?.name === "qcow2";

/** Compares the digest of an image for Incus with its bytes. @returns a clause if it is another one */
export async function refuteDigests(
  { arch, incus }: ImageMetadata,
  source: ByteSource,
): Promise<string | undefined> {
  if (!incus || arch === undefined) return undefined;
  if (!isDiskOfIncus(source)) return "its manifest has package.incus, but the file is not a qcow2 disk";
  const hash = createHash("sha256").update(incusTarball({ ...incus, arch }));
  await source.each((chunk) => {
    hash.update(chunk);
  });
  const combined = hash.digest("hex");
  return combined === incus.combined_sha256
    ? undefined
    : `package.incus.combined_sha256 in its manifest is ${incus.combined_sha256}, expected ${combined}`;
}
