import { feedPath } from "./feeds/paths.ts";
import type { ObjectHeaders } from "./object-store.ts";
import { isInRareFolder } from "./site-paths.ts";

export const cacheControl = {
  /** May change with every build; a withdrawal is visible within a minute. */
  public: "public, max-age=60, stale-while-revalidate=600",
  /** The path contains a hash of the bytes, or a number that is never reused. */
  immutable: "public, max-age=31536000, immutable",
  none: "no-store",
  /** An artifact on a web server, or an index of a feed; no-transform keeps proxies from compressing it. */
  artifact: "public, max-age=60, stale-while-revalidate=600, no-transform",
  /** An uploaded artifact, or an index of a feed whose path contains its hash. */
  upload: "public, max-age=31536000, immutable, no-transform",
} as const;

export const mediaTypes: ReadonlyMap<string, string> = new Map([
  ["atom", "application/atom+xml"],
  ["css", "text/css; charset=utf-8"],
  ["html", "text/html; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["json", "application/json"],
  ["md", "text/markdown; charset=utf-8"],
  ["png", "image/png"],
  ["svg", "image/svg+xml"],
  ["txt", "text/plain; charset=utf-8"],
  ["xml", "application/xml"],
]);

export const mediaType = (path: string): string =>
  feedPath(path)?.contentType ??
  (path.endsWith("SHA256SUMS")
    ? "text/plain; charset=utf-8"
    : (mediaTypes.get(extensionOf(path)) ?? "application/octet-stream"));

export const extensionOf = (path: string): string => /\.([a-z0-9]+)$/.exec(path)?.[1] ?? "";

export const isHashedAsset = (path: string): boolean => /^assets\/.+\.[0-9a-f]{8}\.[a-z]+$/.test(path);

export function cachingOf(path: string): string {
  const feed = feedPath(path);
  if (feed) return feed.role === "immutable" ? cacheControl.upload : cacheControl.artifact;
  if (isInRareFolder(path)) return cacheControl.artifact;
  return isHashedAsset(path) ? cacheControl.immutable : cacheControl.public;
}

/** Detects published files that must be rewritten because of their headers. */
export const headersDigest = ({ contentType, cacheControl: caching, metadata }: ObjectHeaders): string =>
  [contentType, caching, metadata?.["relcat-provisional"] ?? ""].join("|");

/** Header that every registry response has, and the name of the header with a manifest's digest. */
export const registryVersion = { "Docker-Distribution-API-Version": "registry/2.0" } as const;
export const registryDigest = "Docker-Content-Digest";

/** Clients of an OCI registry resolve a tag by a header of the response to HEAD. @param sha256 of the bytes */
export const registryHeaders = (path: string, sha256: string): Record<string, string> => ({
  ...(path.startsWith("v2/") && registryVersion),
  ...(/^v2\/.+\/(?:manifests|blobs)\/[^/]+$/.test(path) && { [registryDigest]: `sha256:${sha256}` }),
});
