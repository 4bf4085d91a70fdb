import { cacheControl, headersDigest } from "../../documents/file-headers.ts";
import type { ListedObject, ObjectHeaders, ObjectStore } from "../../documents/object-store.ts";
import { fileIn, isPublishName, type PublishedFile, type SiteIndex } from "../../documents/site-state.ts";
import type { Damage, SurveyRequest } from "../../documents/site-store.ts";
import { inParallel } from "../../system/in-parallel.ts";
import { sha256 } from "../../trust/metadata.ts";

const maxConcurrentRequests = 8;

/** Marks objects that differ from every publish. */
export const unknownHeaders = "unknown";

/** Compares the list of objects, or bytes and headers. An object that no publish wrote has unknown headers. */
export async function surveyObjects(
  store: ObjectStore,
  { known, newest, isRead }: SurveyRequest,
): Promise<{ files: SiteIndex["files"]; damage: Damage[] }> {
  const listed = new Map<string, ListedObject>();
  for await (const object of store.list("")) listed.set(object.key, object);
  const files: SiteIndex["files"] = {};
  for (const { key, size, etag } of listed.values()) {
    if (key === stateKey || key.startsWith("state/") || key.startsWith("files/")) continue;
    const same = known.flatMap((index) => fileIn(index, key) ?? []);
    const found = same.find((file) => file.etag === etag);
    files[key] = found ? withoutLostBundle(found, listed) : unknownFile(size, etag);
  }
  const [published] = known;
  if (newest === undefined || !published) return { files, damage: [] };
  const damage = Object.entries(published.files).flatMap(([path, file]) => {
    const fault = faultOf(file, listed.get(path));
    return fault === undefined ? [] : [{ path, fault }];
  });
  const bundles = new Set(Object.values(published.files).flatMap(({ bundle }) => bundle ?? []));
  for (const bundle of bundles) {
    const path = bundleKey(bundle);
    if (!listed.has(path)) damage.push({ path, fault: missing });
  }
  return { files, damage: isRead ? [...damage, ...(await readAll(store, published.files, files))] : damage };
}

const missing = "was missing";

const unknownFile = (size: number, etag: string): PublishedFile => ({
  sha256: "0".repeat(64),
  size,
  headers: unknownHeaders,
  etag,
});

function faultOf(file: PublishedFile, object: ListedObject | undefined): string | undefined {
  if (!object) return missing;
  if (object.etag === file.etag) return undefined;
  return object.size === file.size ? "had other bytes" : `had ${object.size} bytes, expected ${file.size}`;
}

/** Reads the apparently unchanged objects and removes those that differ from `files`. */
async function readAll(store: ObjectStore, published: SiteIndex["files"], files: SiteIndex["files"]) {
  const paths = Object.keys(published).filter(
    (path) => files[path] && files[path].headers !== unknownHeaders,
  );
  const found = await inParallel(paths, maxConcurrentRequests, async (path): Promise<Damage[]> => {
    const [file, object] = [published[path], await store.get(path)];
    if (!file) return [];
    if (!object) {
      delete files[path];
      return [{ path, fault: missing }];
    }
    const isSame = sha256(object.bytes) === file.sha256;
    if (isSame && !object.contentEncoding && headersDigest(object) === file.headers) return [];
    files[path] = unknownFile(object.bytes.length, object.etag);
    return [{ path, fault: isSame ? "had other headers" : "had other bytes" }];
  });
  return found.flat();
}

/** A file whose bundle is missing is bundled again by the next publish. */
function withoutLostBundle(file: PublishedFile, listed: ReadonlyMap<string, ListedObject>): PublishedFile {
  const { bundle, offset, ...rest } = file;
  return bundle !== undefined && !listed.has(bundleKey(bundle)) ? rest : file;
}

export const stateKey = "current.json";
export const indexKey = (name: string) => `state/${name}.json.gz`;
export const bundleKey = (name: string) => `state/${name}.bundle.gz`;

/** Publish that an index or bundle belongs to; undefined for other keys. */
export function publishOf(key: string): string | undefined {
  const name = /^state\/(.+)\.(json|bundle)\.gz$/.exec(key)?.[1];
  return name !== undefined && isPublishName(name) ? name : undefined;
}

export const stateHeaders: ObjectHeaders = {
  contentType: "application/json",
  cacheControl: cacheControl.none,
};
export const packedHeaders: ObjectHeaders = {
  contentType: "application/gzip",
  cacheControl: cacheControl.none,
};
