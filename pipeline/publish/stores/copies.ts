import { basename } from "node:path";
import { failure, type RelcatError } from "../../../shared/errors.ts";
import type { ObjectStore } from "../../documents/object-store.ts";
import { relativePath } from "../../documents/relative-path.ts";
import type { FileBytes } from "../../documents/site-store.ts";
import { hashFile } from "../../system/file-source.ts";
import { exists, linkOrCopy } from "../../system/files.ts";
import type { RootFolder } from "../../system/root-folder.ts";
import { sha256 } from "../../trust/metadata.ts";

/** A file of a site with the bytes of an artifact. */
interface Copy extends FileBytes {
  from: string;
}

/** @returns the path if it must be synced to disk. @throws RelcatError artifact-unpublished */
export async function placeCopy(artifacts: RootFolder, target: RootFolder, copy: Copy) {
  const source = artifacts(relativePath(copy.from));
  const measured = exists(source) ? await hashFile(source) : undefined;
  if (measured?.sha256 !== copy.sha256) throw otherArtifact(source, copy);
  const to = target(relativePath(copy.path));
  return linkOrCopy(source, to) ? to : undefined;
}

/** Verified bytes of an artifact in a bucket. @throws RelcatError artifact-unpublished */
export async function readCopy(store: ObjectStore, copy: Copy): Promise<Uint8Array> {
  const artifact = await store.get(copy.from);
  if (artifact && sha256(artifact.bytes) === copy.sha256) return artifact.bytes;
  throw otherArtifact(`${store.place}/${copy.from}`, copy);
}

const otherArtifact = (place: string, { path, from, sha256 }: Copy): RelcatError =>
  failure(
    "artifact-unpublished",
    `${place} is missing or has other bytes, expected the SHA-256 ${sha256} for ${path}`,
    `Upload ${basename(from)} where it was built, with relcat upload and the manifest, then publish again.`,
  );
