import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { gunzipSync } from "node:zlib";
import type { ObjectStore } from "../documents/object-store.ts";
import { isFolderAddress, relativePath } from "../documents/relative-path.ts";
import { type SiteIndex, siteIndexSchema, siteStateSchema } from "../documents/site-state.ts";
import type { Restored, SiteStore } from "../documents/site-store.ts";
import { sha256 } from "../trust/metadata.ts";
import { surveyObjects } from "./look-at-objects.ts";
import { bundleKey, indexKey, stateHeaders, stateKey } from "./object-keys.ts";
import { pruneObjects } from "./object-prune.ts";
import { publishObjects } from "./object-publish.ts";
import { parsedAs } from "./parsed-state.ts";
import { rootFolder } from "./root-folder.ts";
import { unpackedFiles } from "./site-bundle.ts";

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
      const done = await store.put(stateKey, bytes, stateHeaders, condition);
      return done === "changed" ? "changed" : done.etag;
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
    async restore(name, folder) {
      const index = await readIndex(name);
      return index ? restoreFiles(store, index.files, folder) : "gone";
    },
    prune: (turn, isOver) => pruneObjects({ store, readIndex, turn }, isOver),
  };
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
