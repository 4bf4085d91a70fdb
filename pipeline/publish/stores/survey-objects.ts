import { headersDigest } from "../../documents/file-headers.ts";
import type { ListedObject, ObjectStore } from "../../documents/object-store.ts";
import type { PublishedFile, SiteIndex } from "../../documents/site-state.ts";
import type { Damage, SurveyRequest } from "../../documents/site-store.ts";
import { inParallel } from "../../system/in-parallel.ts";
import { sha256 } from "../../trust/metadata.ts";
import { bundleKey, stateKey } from "./object-keys.ts";

/** Requests that are under way at a time. */
const atOnce = 8;

/** The headers of an object that no publish left as it is. */
export const unknownHeaders = "unknown";

/**
 * Compares a bucket with what was published: by the list of its objects, or by their bytes and headers.
 * An object that is not as a publish left it, or began it, has unknown headers.
 */
export async function surveyObjects(
  store: ObjectStore,
  { known, newest, isRead }: SurveyRequest,
): Promise<{ files: SiteIndex["files"]; damage: Damage[] }> {
  const listed = new Map<string, ListedObject>();
  for await (const object of store.list("")) listed.set(object.key, object);
  const files: SiteIndex["files"] = {};
  for (const { key, size, etag } of listed.values()) {
    if (key === stateKey || key.startsWith("state/") || key.startsWith("files/")) continue;
    const same = known.flatMap((index) => (Object.hasOwn(index.files, key) ? (index.files[key] ?? []) : []));
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

/** Reads what the list says is as it was published, and takes out of `files` what is not. */
async function readAll(
  store: ObjectStore,
  published: SiteIndex["files"],
  files: SiteIndex["files"],
): Promise<Damage[]> {
  const paths = Object.keys(published).filter(
    (path) => files[path] && files[path].headers !== unknownHeaders,
  );
  const found = await inParallel(paths, atOnce, async (path): Promise<Damage[]> => {
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

/** A file whose bundle is gone is bundled again by the next publish. */
function withoutLostBundle(file: PublishedFile, listed: ReadonlyMap<string, ListedObject>): PublishedFile {
  const { bundle, offset, ...rest } = file;
  return bundle !== undefined && !listed.has(bundleKey(bundle)) ? rest : file;
}
