import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { failure } from "../../../shared/errors.ts";
import { headersDigest } from "../../documents/file-headers.ts";
import type { ObjectStore } from "../../documents/object-store.ts";
import type { PublishTurn } from "../../documents/publish-turn.ts";
import { isFolderAddress } from "../../documents/relative-path.ts";
import { type PublishedFile, publishName, type SiteIndex } from "../../documents/site-state.ts";
import { type Kept, type Publication, type PublicFile, writtenFiles } from "../../documents/site-store.ts";
import { inParallel } from "../../system/in-parallel.ts";
import { readCopy } from "./copies.ts";
import { bundleKey, indexKey, packedHeaders } from "./object-keys.ts";
import { numberTaken } from "./object-taken.ts";
import { packedFiles } from "./site-bundle.ts";
import { unknownHeaders } from "./survey-objects.ts";

/** Concurrent requests. */
const maxConcurrentRequests = 8;
/** A restore needs every bundle that an index names; above this number, a complete bundle is written. */
const maxBundles = 8;
/** Treats a document as unreferenced for long, so that it is removed as soon as it is old enough. */
const longAgo = "1970-01-01T00:00:00.000000Z";

const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex");

/** @throws RelcatError site-taken, object-taken */
export async function publishObjects(
  store: ObjectStore,
  publication: Publication,
  turn: PublishTurn,
): Promise<Kept> {
  const { changes, read } = publication;
  const etags = new Map<string, string>();
  const bytesOf = async (file: PublicFile) =>
    file.from === undefined ? read(file.path) : readCopy(store, { ...file, from: file.from });
  const put = async (file: PublicFile) => {
    await turn.renew();
    await turn.step(stepOf(file, changes.last));
    etags.set(file.path, await putFile(store, file, await bytesOf(file), publication));
    publication.onFile();
  };
  await inParallel(changes.immutable, maxConcurrentRequests, put);
  const { index, name, bundles } = await keepForReturn(store, publication, turn);
  for (const wave of changes.mutable) await inParallel(wave, maxConcurrentRequests, put);
  await turn.renew("now");
  if (changes.last) await put(changes.last);
  // Removed only now, because the previous signed metadata still named these files.
  Object.assign(index.leaving, await removeDocuments(store, publication, turn));
  for (const [path, etag] of etags) {
    const file = index.files[path];
    if (file) file.etag = etag;
  }
  await turn.step("put-etags");
  await putIndex(store, name, index);
  return { files: name, bundles };
}

const stepOf = (file: PublicFile, last: PublicFile | undefined) =>
  file.isImmutable ? "put-immutable" : file === last ? "put-timestamp" : "put-document";

/**
 * Removes documents of the last finished publish that this build lacks. Others may be from a concurrent
 * publisher, so they stay until they are older than a lease.
 * @returns the ones that stay for now
 */
async function removeDocuments(
  store: ObjectStore,
  { changes: { removed }, before }: Publication,
  turn: PublishTurn,
): Promise<Record<string, string>> {
  const isExplained = (path: string) => before?.files[path]?.headers !== unknownHeaders;
  await turn.step("clear");
  await store.remove(removed.filter(isExplained), async () => {
    await turn.renew("now");
    await turn.step("remove");
  });
  return Object.fromEntries(removed.filter((path) => !isExplained(path)).map((path) => [path, longAgo]));
}

/** @returns the ETag @throws RelcatError site-taken, object-taken */
async function putFile(
  store: ObjectStore,
  file: PublicFile,
  bytes: Uint8Array,
  { before, published }: Publication,
): Promise<string> {
  const { path, headers, isImmutable } = file;
  const known = at(before, path)?.etag;
  // A file changed by hand since its publish is rewritten.
  const wasPublished = at(published, path)?.sha256 === file.sha256;
  if (!isImmutable || wasPublished) {
    const condition = known === undefined ? { ifNoneMatch: "*" as const } : { ifMatch: known };
    const done = await store.put(path, bytes, headers, condition);
    if (done !== "changed") return done.etag;
    throw failure(
      "site-taken",
      `${store.place}/${path} was changed by another program in the meantime`,
      "Run the command again: it checks the current state and continues from there.",
    );
  }
  const done = await store.put(path, bytes, headers, { ifNoneMatch: "*" });
  if (done !== "changed") return done.etag;
  const there = await store.head(path);
  if (there?.etag === md5(bytes)) return there.etag;
  throw numberTaken(`${store.place}/${path}`);
}

/** Own properties only, because paths are untrusted text. */
const at = (index: SiteIndex | undefined, path: string): PublishedFile | undefined =>
  index && Object.hasOwn(index.files, path) ? index.files[path] : undefined;

const stillThere = (left: Publication["left"], files: SiteIndex["files"]) =>
  Object.fromEntries(Object.entries(left).filter(([path]) => Object.hasOwn(files, path)));

/** Bundles the changed files into one object, which a later restore needs. */
async function keepForReturn(
  store: ObjectStore,
  { build, files, changes, read, leaving, left, before }: Publication,
  turn: PublishTurn,
): Promise<{ index: SiteIndex; name: string; bundles: string[] }> {
  const name = publishName(build, turn.run);
  const earlier = before?.files ?? {};
  const changed = new Set(writtenFiles(changes).map(({ path }) => path));
  const named = new Set(Object.values(earlier).flatMap(({ bundle }) => bundle ?? []));
  const isWhole = named.size >= maxBundles;
  const bundled: string[] = [];
  let offset = 0;
  const entries = files.map((file): [string, PublishedFile] => {
    const { path, sha256, size, headers } = file;
    const old = Object.hasOwn(earlier, path) ? earlier[path] : undefined;
    const entry = {
      sha256,
      size,
      headers: headersDigest(headers),
      // Files that change now get their new ETag after the upload.
      ...(!changed.has(path) && old?.etag !== undefined && { etag: old.etag }),
    };
    // Signatures are stored too, because a restored build must be covered by them.
    // A restored build names the artifacts that its copies are made from.
    if (isFolderAddress(path) || file.from !== undefined) return [path, entry];
    const isKept = !isWhole && !changed.has(path) && old?.bundle !== undefined;
    if (isKept) return [path, { ...entry, bundle: old.bundle, offset: old.offset ?? 0 }];
    const start = offset;
    bundled.push(path);
    offset += size;
    return [path, { ...entry, bundle: name, offset: start }];
  });
  await turn.step("put-bundle");
  if (bundled.length > 0) await store.put(bundleKey(name), await packedFiles(bundled, read), packedHeaders);
  const index: SiteIndex = {
    schema_version: 1,
    build,
    files: Object.fromEntries(entries),
    leaving: { ...leaving, ...stillThere(left, earlier) },
  };
  await turn.step("put-index");
  // Written before any replacement, so that a publisher that takes over knows which files are ours.
  await putIndex(store, name, index);
  const bundles = [...new Set(entries.flatMap(([, { bundle }]) => bundle ?? []))];
  return { index, name, bundles };
}

const putIndex = (store: ObjectStore, name: string, index: SiteIndex) =>
  store.put(indexKey(name), gzipSync(JSON.stringify(index)), packedHeaders);
