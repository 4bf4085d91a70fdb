import { failure } from "../../shared/errors.ts";
import { verified } from "../trust/live-metadata.ts";
import { metadataPath, readTimestamp, type SignedRoot } from "../trust/metadata.ts";
import { notSigned, proveBuild, Unproved } from "../trust/prove-build.ts";
import { isSigned, sourceOf, timestampPath } from "../trust/site-files.ts";
import type { LocalBuild } from "./local-build.ts";

/**
 * Verifies a signed build folder before publishing: an attacker between `sign` and `publish` must not be able
 * to add unsigned files.
 * @param root newest root of `releases/trust/`
 * @throws RelcatError build-unproved, naming the first file
 */
export async function refuseForged(local: LocalBuild, root: SignedRoot, site: string): Promise<void> {
  try {
    await proveLocal(local, root);
  } catch (error) {
    if (!(error instanceof Unproved)) throw error;
    throw failure(
      "build-unproved",
      `${local.folder}/${error.path} ${error.reason}`,
      `Nothing was published. Build and sign it again: relcat build --released, then relcat sign --site ${site}`,
    );
  }
}

async function proveLocal(local: LocalBuild, root: SignedRoot): Promise<void> {
  const known = new Set(local.files.map(({ path }) => sourceOf(path)));
  const read = async (path: string) => (known.has(path) ? local.read(path) : undefined);
  const bytes = await read(timestampPath);
  const timestamp = bytes && verified(bytes, readTimestamp, root, "timestamp");
  if (!timestamp) throw new Unproved(timestampPath, notSigned);
  const { version } = timestamp.metadata.signed.snapshotMeta;
  const proved = await proveBuild(read, metadataPath("snapshot", version), root);
  if (proved.id !== local.id) throw new Unproved("build.json", "is not the one that was signed");
  for (const { path, sha256, from } of local.files) {
    const source = sourceOf(path);
    // The proved build.json has the digests of copies.
    const isCovered = from !== undefined || proved.files.get(source)?.sha256 === sha256;
    if (!isCovered && !isSigned(source) && source !== timestampPath)
      throw new Unproved(source, "is not covered by a signature");
  }
}
