import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { cacheControl, headersDigest, isHashedAsset } from "../documents/file-headers.ts";
import type { ObjectHeaders, ObjectStore } from "../documents/object-store.ts";
import { isFolderAddress, relativePath } from "../documents/relative-path.ts";
import {
  isPublishName,
  type PublishedFile,
  publishName,
  type SiteIndex,
  siteIndexSchema,
  siteStateSchema,
} from "../documents/site-state.ts";
import {
  type Heartbeat,
  type Publication,
  type PublicFile,
  type Restored,
  type SiteStore,
  writtenFiles,
} from "../documents/site-store.ts";
import { failure } from "../errors.ts";
import { sha256 } from "../trust/metadata.ts";
import { inParallel } from "./in-parallel.ts";
import { numberTaken } from "./object-taken.ts";
import { parsedAs } from "./parsed-state.ts";
import { rootFolder } from "./root-folder.ts";
import { packedFiles, unpackedFiles } from "./site-bundle.ts";

const stateKey = "current.json";
const own: ObjectHeaders = { contentType: "application/json", cacheControl: cacheControl.none };
const packed: ObjectHeaders = { contentType: "application/gzip", cacheControl: cacheControl.none };

const indexKey = (name: string) => `state/${name}.json.gz`;
const bundleKey = (name: string) => `state/${name}.bundle.gz`;
const isOwnKey = (key: string) => isPublishName(/^state\/(.+)\.(json|bundle)\.gz$/.exec(key)?.[1] ?? "");

/** Requests that are under way at a time. */
const atOnce = 8;
/** Going back needs every bundle that an index names; with more than this, a whole one is written. */
const mostBundles = 8;

const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex");

/** A site in a bucket: public files under their own paths, `current.json`, and `state/` for going back. */
export function objectSite(store: ObjectStore): SiteStore {
  const readIndex = async (name: string): Promise<SiteIndex | undefined> => {
    const stored = await store.get(indexKey(name));
    if (!stored) return undefined;
    return parsedAs(siteIndexSchema, () => gunzipSync(stored.bytes), `${store.place}/${indexKey(name)}`);
  };
  return {
    place: store.place,
    requests: () => store.requests(),
    async readState() {
      const stored = await store.get(stateKey);
      if (!stored) return undefined;
      const state = parsedAs(siteStateSchema, () => stored.bytes, `${store.place}/${stateKey}`);
      return { state, tag: stored.etag };
    },
    async writeState(state, tag) {
      const bytes = new TextEncoder().encode(`${JSON.stringify(state)}\n`);
      const condition = tag === undefined ? { ifNoneMatch: "*" as const } : { ifMatch: tag };
      const done = await store.put(stateKey, bytes, own, condition);
      return done === "changed" ? "changed" : done.etag;
    },
    readIndex,
    survey: (known) => survey(store, known),
    read: async (path) => (await store.get(path))?.bytes,
    head: (path) => store.head(path),
    async metadataNames() {
      const names: string[] = [];
      for await (const { key } of store.list("metadata/")) names.push(key);
      return names;
    },
    publish: (publication, run, heartbeat) => publishObjects(store, publication, run, heartbeat),
    async restore(name, folder) {
      const index = await readIndex(name);
      return index ? restoreFiles(store, index.files, folder) : "gone";
    },
    async prune(kept, gone) {
      const names = new Set(
        kept.flatMap(({ files, bundles }) => [indexKey(files), ...bundles.map(bundleKey)]),
      );
      const old: string[] = [];
      for await (const { key } of store.list("state/")) if (isOwnKey(key) && !names.has(key)) old.push(key);
      const all = [...old, ...gone];
      if (all.length > 0) await store.remove(all);
      return all.length;
    },
  };
}

/** What really is there: what is not as a publish left it, or began it, has headers that nobody knows. */
async function survey(store: ObjectStore, known: readonly SiteIndex[]): Promise<SiteIndex["files"]> {
  const files: SiteIndex["files"] = {};
  for await (const { key, size, etag } of store.list("")) {
    if (key === stateKey || key.startsWith("state/") || key.startsWith("files/")) continue;
    const same = known.flatMap((index) => (Object.hasOwn(index.files, key) ? (index.files[key] ?? []) : []));
    files[key] = same.find((file) => file.etag === etag) ?? {
      sha256: "0".repeat(64),
      size,
      headers: "unknown",
      etag,
    };
  }
  return files;
}

async function restoreFiles(
  store: ObjectStore,
  files: SiteIndex["files"],
  folder: string,
): Promise<Restored> {
  const at = rootFolder(folder);
  const put = (path: string, bytes: Uint8Array) => {
    const file = at(relativePath(path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  };
  const isRestored = (path: string) => !isFolderAddress(path) && !/^(metadata|targets)\//.test(path);
  const paths = Object.keys(files).filter(isRestored);
  for (const [bundle, its] of Map.groupBy(paths, (path) => files[path]?.bundle)) {
    const stored = bundle === undefined ? undefined : await store.get(bundleKey(bundle));
    if (bundle === undefined || !stored) return "gone";
    const places = its.map((path) => ({
      path,
      offset: files[path]?.offset ?? 0,
      size: files[path]?.size ?? 0,
    }));
    const changed = { changed: `${store.place}/${bundleKey(bundle)}` };
    try {
      for await (const { path, bytes } of unpackedFiles(stored.bytes, places)) {
        if (sha256(bytes) !== files[path]?.sha256) return changed;
        put(path, bytes);
      }
    } catch (error) {
      if (/^Z_/.test((error as NodeJS.ErrnoException).code ?? "")) return changed;
      throw error;
    }
  }
  return "whole";
}

async function publishObjects(
  store: ObjectStore,
  publication: Publication,
  run: string,
  heartbeat: Heartbeat,
): Promise<{ files: string; bundles: string[] }> {
  const { changes, read, before } = publication;
  const live = before?.files ?? {};
  const etags = new Map<string, string>();
  const put = async (file: PublicFile) => {
    await heartbeat();
    etags.set(file.path, await putFile(store, file, read(file.path), live));
  };
  await inParallel(changes.immutable, atOnce, put);
  const { index, name, bundles } = await keepForReturn(store, publication, run);
  for (const wave of changes.mutable) await inParallel(wave, atOnce, put);
  await heartbeat("now");
  if (changes.last) await put(changes.last);
  // What is signed now names them no more; before, they would have been missing.
  if (changes.removed.length > 0) await store.remove(changes.removed);
  for (const [path, etag] of etags) {
    const file = index.files[path];
    if (file) file.etag = etag;
  }
  await putIndex(store, name, index);
  return { files: name, bundles };
}

/** @returns the ETag @throws RelcatError site-taken, object-taken */
async function putFile(
  store: ObjectStore,
  { path, headers, isImmutable }: PublicFile,
  bytes: Uint8Array,
  live: SiteIndex["files"],
): Promise<string> {
  const known = Object.hasOwn(live, path) ? live[path]?.etag : undefined;
  if (!isImmutable) {
    const condition = known === undefined ? { ifNoneMatch: "*" as const } : { ifMatch: known };
    const done = await store.put(path, bytes, headers, condition);
    if (done !== "changed") return done.etag;
    throw failure(
      "site-taken",
      `${store.place}/${path} was changed by somebody else meanwhile`,
      "Run the command again: it looks at what is there and goes on from that.",
    );
  }
  const done = await store.put(path, bytes, headers, { ifNoneMatch: "*" });
  if (done !== "changed") return done.etag;
  const there = await store.head(path);
  if (there?.etag === md5(bytes)) return there.etag;
  throw numberTaken(`${store.place}/${path}`);
}

/** The bytes that are about to be public, in one object: readers never see it, going back needs it. */
async function keepForReturn(
  store: ObjectStore,
  { build, files, changes, read, leaving, before }: Publication,
  run: string,
): Promise<{ index: SiteIndex; name: string; bundles: string[] }> {
  const name = publishName(build, run);
  const earlier = before?.files ?? {};
  const changed = new Set(writtenFiles(changes).map(({ path }) => path));
  const named = new Set(Object.values(earlier).flatMap(({ bundle }) => bundle ?? []));
  const isWhole = named.size >= mostBundles;
  const bundled: string[] = [];
  let offset = 0;
  const entries = files.map((file): [string, PublishedFile] => {
    const { path, sha256, size, headers, isImmutable } = file;
    const old = Object.hasOwn(earlier, path) ? earlier[path] : undefined;
    const entry = {
      sha256,
      size,
      headers: headersDigest(headers),
      // What is about to be replaced has an ETag when it has been.
      ...(!changed.has(path) && old?.etag !== undefined && { etag: old.etag }),
    };
    // Signatures are made anew on the way back.
    if ((isImmutable && !isHashedAsset(path)) || path.endsWith("/")) return [path, entry];
    const isKept = !isWhole && !changed.has(path) && old?.bundle !== undefined;
    if (isKept) return [path, { ...entry, bundle: old.bundle, offset: old.offset ?? 0 }];
    const start = offset;
    bundled.push(path);
    offset += size;
    return [path, { ...entry, bundle: name, offset: start }];
  });
  if (bundled.length > 0) await store.put(bundleKey(name), await packedFiles(bundled, read), packed);
  const index: SiteIndex = {
    schema_version: 1,
    build,
    files: Object.fromEntries(entries),
    leaving: { ...leaving },
  };
  // Before anything is replaced: whoever takes over then knows whose files these are.
  await putIndex(store, name, index);
  const bundles = [...new Set(entries.flatMap(([, { bundle }]) => bundle ?? []))];
  return { index, name, bundles };
}

const putIndex = (store: ObjectStore, name: string, index: SiteIndex) =>
  store.put(indexKey(name), gzipSync(JSON.stringify(index)), packed);
