import { createHash, type Hash } from "node:crypto";
import type { Storage, Stream } from "../../archives/compound-file.ts";
import type { DirectoryEntry } from "../../archives/compound-file-directory.ts";

/** The signature covers all streams in byte order of their names, except these two. */
export const signatureNames = {
  signature: "\u0005DigitalSignature",
  extended: "\u0005MsiDigitalSignatureEx",
} as const;

/**
 * Hash of the content: per storage its streams and storages, then its class id.
 * @param extended `MsiDigitalSignatureEx`, hashed first if present
 */
export async function contentDigest(root: Storage, digest: string, extended: Uint8Array): Promise<Buffer> {
  const hash = createHash(digest).update(extended);
  await updateContent(hash, root);
  return hash.digest();
}

async function updateContent(hash: Hash, storage: Storage): Promise<void> {
  for (const part of inOrder(storage)) {
    if ("content" in part) await part.content.each((chunk) => void hash.update(chunk));
    else await updateContent(hash, part);
  }
  hash.update(storage.entry.classId);
}

/** Hash of names, sizes and times, which the content hash does not cover. */
export function metadataDigest(root: Storage, digest: string): Buffer {
  const hash = createHash(digest);
  updateMetadata(hash, root);
  return hash.digest();
}

function updateMetadata(hash: Hash, storage: Storage): void {
  updateEntry(hash, storage.entry);
  for (const part of inOrder(storage)) {
    if ("content" in part) updateEntry(hash, part.entry);
    else updateMetadata(hash, part);
  }
}

function updateEntry(hash: Hash, { kind, rawName, classId, size, state, times }: DirectoryEntry): void {
  if (kind !== "root") hash.update(rawName);
  hash.update(kind === "stream" ? uint32(size) : classId);
  hash.update(state);
  if (kind !== "root") hash.update(times);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value % 2 ** 32);
  return bytes;
}

/** Only the root contains signature streams, which are not hashed. */
function inOrder({ entry, streams, storages }: Storage): readonly (Storage | Stream)[] {
  const isSignature = ({ entry: { name } }: Stream) =>
    (Object.values(signatureNames) as string[]).includes(name);
  const signed = entry.kind === "root" ? streams.filter((stream) => !isSignature(stream)) : streams;
  return [...signed, ...storages].sort((one, other) =>
    Buffer.compare(one.entry.rawName, other.entry.rawName),
  );
}
