import type { ObjectHeaders } from "./object-store.ts";

/** How long caches keep what a site serves. */
export const cacheControl = {
  /** What a new build may change: a withdrawal shows within a minute. */
  public: "public, max-age=60, stale-while-revalidate=600",
  /** Its path has the hash of its bytes, or a number that is never given twice. */
  immutable: "public, max-age=31536000, immutable",
  none: "no-store",
  /** An artifact on a web server: nothing on the way compresses it, whatever its name and type. */
  artifact: "public, max-age=60, stale-while-revalidate=600, no-transform",
  /** An artifact as it was uploaded. */
  upload: "public, max-age=31536000, immutable, no-transform",
} as const;

export const mediaTypes: Readonly<Record<string, string>> = {
  atom: "application/atom+xml",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  md: "text/markdown; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
};

/** The media type of a site's file, by its path. */
export const mediaType = (path: string): string =>
  path.endsWith("SHA256SUMS")
    ? "text/plain; charset=utf-8"
    : (mediaTypes[extensionOf(path)] ?? "application/octet-stream");

export const extensionOf = (path: string): string => /\.([a-z0-9]+)$/.exec(path)?.[1] ?? "";

/** Whether a path has the hash of its bytes. */
export const isHashedAsset = (path: string): boolean => /^assets\/.+\.[0-9a-f]{8}\.[a-z]+$/.test(path);

/** Compared to find out whether a published file must be written again for its headers alone. */
export const headersDigest = ({ contentType, cacheControl: caching, metadata }: ObjectHeaders): string =>
  [contentType, caching, metadata?.["relcat-provisional"] ?? ""].join("|");
