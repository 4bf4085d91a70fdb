import { createHash, type Hash } from "node:crypto";
import type { Storage, Stream } from "../archives/compound-file.ts";
import type { DirectoryEntry } from "../archives/compound-file-directory.ts";

/** What is signed of an installer: its streams, in the order of their names' bytes. */
export const signatureNames = {
  signature: "\u0005DigitalSignature",
  extended: "\u0005MsiDigitalSignatureEx",
} as const;

/**
 * The hash of an installer's content: of each storage its streams and storages, and then its class.
 * @param extended `MsiDigitalSignatureEx`, which comes first where there is one
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

/** The hash of names, sizes and times, which the content's does not cover. */
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

/** All but the signature, which only the root has. */
function inOrder({ entry, streams, storages }: Storage): readonly (Storage | Stream)[] {
  const isSignature = ({ entry: { name } }: Stream) =>
    (Object.values(signatureNames) as string[]).includes(name);
  const signed = entry.kind === "root" ? streams.filter((stream) => !isSignature(stream)) : streams;
  return [...signed, ...storages].sort((one, other) =>
    Buffer.compare(one.entry.rawName, other.entry.rawName),
  );
}
