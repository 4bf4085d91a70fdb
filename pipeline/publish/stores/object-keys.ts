import { cacheControl } from "../../documents/file-headers.ts";
import type { ObjectHeaders } from "../../documents/object-store.ts";
import { isPublishName } from "../../documents/site-state.ts";

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
