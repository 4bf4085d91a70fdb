import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { failure } from "../../../shared/errors.ts";
import { headersDigest } from "../../documents/file-headers.ts";
import type { ObjectStore } from "../../documents/object-store.ts";
import { lease, type PublishTurn } from "../../documents/publish-turn.ts";
import { isFolderAddress } from "../../documents/relative-path.ts";
import {
  fileIn,
  type HistoryEntry,
  type PublishedFile,
  publishName,
  type SiteIndex,
  siteIndexSchema,
  siteStateSchema,
} from "../../documents/site-state.ts";
import {
  type KeptFile,
  type Publication,
  type PublicFile,
  type SiteStore,
  writtenFiles,
} from "../../documents/site-store.ts";
import { inParallel } from "../../system/in-parallel.ts";
import { parsedAs } from "../../trust/parsed-state.ts";
import { readCopy } from "./copies.ts";
import { numberTaken } from "./object-taken.ts";
import { packedFiles, unpackedFiles } from "./site-bundle.ts";
import {
  bundleKey,
  indexKey,
  packedHeaders,
  publishOf,
  stateHeaders,
  stateKey,
  surveyObjects,
  unknownHeaders,
} from "./survey-objects.ts";

/** Larger than any file of a site, even the list of a very large catalog. */
const maxKeptBytes = 1024 * 1024 * 1024;

/** Room for the index of a million files. */
const maxIndexBytes = 256 * 1024 * 1024;

/** A site in a bucket: public files at their own paths, `current.json`, and `state/` for restores. */
export function objectSite(store: ObjectStore): SiteStore {
  let isProbed = false;
  let found: Uint8Array | undefined;
  const probe = async (bytes: Uint8Array) => {
    if (!isProbed) await requireConditions(store, bytes);
    isProbed = true;
  };
  const readIndex = async (name: string): Promise<SiteIndex | undefined> => {
    const stored = await store.get(indexKey(name));
    if (!stored) return undefined;
    const unpacked = () => gunzipSync(stored.bytes, { maxOutputLength: maxIndexBytes });
    return parsedAs(siteIndexSchema, unpacked, `${store.place}/${indexKey(name)}`);
  };
  return {
    place: store.place,
    requests: () => store.requests(),
    clockOffset: () => store.clockOffset(),
    async readState() {
      const stored = await store.get(stateKey);
      found = stored?.bytes;
      if (!stored) return undefined;
      const state = parsedAs(siteStateSchema, () => stored.bytes, `${store.place}/${stateKey}`);
      return { state, tag: stored.etag };
    },
    async writeState(state, tag) {
      const bytes = new TextEncoder().encode(`${JSON.stringify(state)}\n`);
      const condition = tag === undefined ? { ifNoneMatch: "*" as const } : { ifMatch: tag };
      // Probed before anything changes; without a state, there is nothing that a false condition could refer to.
      if (found) await probe(found);
      const done = await store.put(stateKey, bytes, stateHeaders, condition);
      if (done === "changed") return "changed";
      await probe(bytes).catch(async (error: unknown) => {
        await store.remove([stateKey]);
        throw error;
      });
      return done.etag;
    },
    readIndex,
    survey: (request) => surveyObjects(store, request),
    read: async (path) => (await store.get(path))?.bytes,
    head: (path) => store.head(path),
    async metadataNames() {
      const names: string[] = [];
      for await (const { key } of store.list("metadata/")) names.push(key);
      return names;
    },
    publish: (publication, turn) => publishObjects(store, publication, turn),
    async openKept(name) {
      const index = await readIndex(name);
      if (!index) return undefined;
      const bundles = new Map<string, Uint8Array | undefined>();
      const bundle = async (key: string) => {
        if (!bundles.has(key)) bundles.set(key, (await store.get(bundleKey(key)))?.bytes);
        return bundles.get(key);
      };
      return { files: index.files, read: (wanted) => readKept(store, index, bundle, wanted) };
    },
    prune: (turn, isOver) => pruneObjects({ store, readIndex, turn }, isOver),
  };
}

/**
 * Writes the state under conditions that do not hold: if the service ignored them, two publishers would both succeed.
 * @throws RelcatError storage-refused
 * @param bytes current state; a final line feed makes another ETag, so that a retry does not find its own bytes
 */
async function requireConditions(store: ObjectStore, bytes: Uint8Array): Promise<void> {
  const conditions = {
    "If-None-Match": { ifNoneMatch: "*" },
    "If-Match": { ifMatch: "0".repeat(32) },
  } as const;
  for (const [name, condition] of Object.entries(conditions)) {
    const done = await store.put(
      stateKey,
      Buffer.concat([bytes, Buffer.from("\n")]),
      stateHeaders,
      condition,
    );
    if (done !== "changed")
      throw failure(
        "storage-refused",
        `the service of ${store.place} ignores ${name}: it accepted a write whose condition does not hold`,
        "Two publishers would both succeed there. Publish to a service with conditional writes, such as Amazon S3, Ceph or MinIO, and let no proxy remove these headers.",
      );
  }
}

/** Older publishes stored no signatures, so these are read from their public paths. */
async function* readKept(
  store: ObjectStore,
  index: SiteIndex,
  bundleOf: (key: string) => Promise<Uint8Array | undefined>,
  wanted: Iterable<KeptFile>,
) {
  const known = [...wanted].flatMap(({ path, size }) => {
    const file = fileIn(index, path);
    const isRight = file && file.size <= maxKeptBytes && (size === undefined || size === file.size);
    return isRight ? [{ path, size: file.size, offset: file.offset ?? 0, bundle: file.bundle }] : [];
  });
  for (const [key, places] of Map.groupBy(known, ({ bundle }) => bundle)) {
    const bundle = key === undefined ? undefined : await bundleOf(key);
    if (bundle) yield* untilDamaged(unpackedFiles(bundle, places));
    else if (key === undefined)
      for (const { path } of places) {
        const stored = await store.get(path);
        if (stored) yield { path, bytes: stored.bytes };
      }
  }
}

/** After the first damaged file of a bundle, all others count as missing. */
async function* untilDamaged<T>(files: AsyncIterable<T>) {
  try {
    yield* files;
  } catch (error) {
    if (!/^Z_/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

type ReadIndex = (name: string) => Promise<SiteIndex | undefined>;

/**
 * Removes data of publishes that left the history, and files without references. The current state and the store's clock
 * decide. @returns number of objects @throws RelcatError site-taken
 */
async function pruneObjects(
  { store, readIndex, turn }: { store: ObjectStore; readIndex: ReadIndex; turn: PublishTurn },
  isOver: (since: string) => boolean,
): Promise<number> {
  await turn.step("prune");
  const stored = await store.get(stateKey);
  turn.requireOurs(stored?.etag);
  if (!stored) return 0;
  const { history } = parsedAs(siteStateSchema, () => stored.bytes, `${store.place}/${stateKey}`);
  const books = new Set(
    history.flatMap(({ files, bundles }) => [indexKey(files), ...bundles.map(bundleKey)]),
  );
  const left = await leftFiles(history, readIndex, isOver);
  const old: string[] = [];
  for await (const { key, modified } of store.list(left.size > 0 ? "" : "state/")) {
    const isLeft = left.has(key) || (publishOf(key) !== undefined && !books.has(key));
    // Uses the same clock as the state, which was just written.
    if (isLeft && modified <= stored.modified - lease) old.push(key);
  }
  const requireOurs = async () => turn.requireOurs((await store.get(stateKey))?.etag);
  await store.remove(old, async () => {
    await requireOurs();
    await turn.step("prune-remove");
  });
  // Another publisher may have taken over during a slow request.
  if (old.length > 0) await requireOurs();
  return old.length;
}

/** Public files that neither the newest publish nor any stored one needs. */
async function leftFiles(
  [newest, ...earlier]: readonly HistoryEntry[],
  readIndex: ReadIndex,
  isOver: (since: string) => boolean,
): Promise<Set<string>> {
  const current = newest && (await readIndex(newest.files));
  if (!current) return new Set();
  const left = new Set(
    Object.entries(current.leaving)
      .filter(([path, since]) => isOver(since) && !Object.hasOwn(current.files, path))
      .map(([path]) => path),
  );
  for (const { files } of left.size > 0 ? earlier : []) {
    const needed = Object.keys((await readIndex(files))?.files ?? {});
    for (const path of needed) if (isProof(path)) left.delete(path);
  }
  return left;
}

/** Documents can be restored from bundles; signatures cannot be created again. */
const isProof = (path: string) => /^(metadata|targets|assets)\//.test(path);

const maxConcurrentRequests = 8;
/** A restore needs every bundle that an index names; above this number, a complete bundle is written. */
const maxBundles = 8;
/** Treats a document as unreferenced for long, so that it is removed as soon as it is old enough. */
const longAgo = "1970-01-01T00:00:00.000000Z";

const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex");

/** @throws RelcatError site-taken, object-taken */
async function publishObjects(store: ObjectStore, publication: Publication, turn: PublishTurn) {
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
 * Removes documents of the last publish that this build lacks.
 * @returns those that a concurrent publisher may have written, which stay until they are older than a lease
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
  // A file changed by hand since its publish is rewritten.
  const isNew = isImmutable && fileIn(published, path)?.sha256 !== file.sha256;
  const known = isNew ? undefined : fileIn(before, path)?.etag;
  const condition = known === undefined ? { ifNoneMatch: "*" as const } : { ifMatch: known };
  const done = await store.put(path, bytes, headers, condition);
  if (done !== "changed") return done.etag;
  if (!isNew)
    throw failure(
      "site-taken",
      `${store.place}/${path} was changed by another program in the meantime`,
      "Run the command again: it checks the current state and continues from there.",
    );
  const there = await store.head(path);
  if (there?.etag === md5(bytes)) return there.etag;
  throw numberTaken(`${store.place}/${path}`);
}

/** Bundles the changed files into one object, which a later restore needs. */
async function keepForReturn(
  store: ObjectStore,
  { build, files, changes, read, leaving, left, before }: Publication,
  turn: PublishTurn,
): Promise<{ index: SiteIndex; name: string; bundles: string[] }> {
  const name = publishName(build, turn.run);
  const changed = new Set(writtenFiles(changes).map(({ path }) => path));
  const named = new Set(Object.values(before?.files ?? {}).flatMap(({ bundle }) => bundle ?? []));
  const isWhole = named.size >= maxBundles;
  const bundled: string[] = [];
  let offset = 0;
  const entries = files.map((file): [string, PublishedFile] => {
    const { path, sha256, size, headers } = file;
    const old = fileIn(before, path);
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
  const stillThere = Object.fromEntries(Object.entries(left).filter(([path]) => fileIn(before, path)));
  const index: SiteIndex = {
    schema_version: 1,
    build,
    files: Object.fromEntries(entries),
    leaving: { ...leaving, ...stillThere },
  };
  await turn.step("put-index");
  // Written before any replacement, so that a publisher that takes over knows which files are ours.
  await putIndex(store, name, index);
  const bundles = [...new Set(entries.flatMap(([, { bundle }]) => bundle ?? []))];
  return { index, name, bundles };
}

const putIndex = (store: ObjectStore, name: string, index: SiteIndex) =>
  store.put(indexKey(name), gzipSync(JSON.stringify(index)), packedHeaders);
