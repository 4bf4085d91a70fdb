import type { FeedName } from "./settings.ts";

/**
 * How a host serves a file of a feed, and when `publish` writes it:
 * - `immutable`: its path contains a hash of its bytes; written first, removed days after nothing refers to it.
 * - `copy`: for clients that do not know the immutable path; written second.
 * - `pointer`: what clients read first; written last.
 */
export interface FeedPath {
  feed: FeedName;
  path: RegExp;
  role: "immutable" | "copy" | "pointer";
  contentType: string;
}

const text = "text/plain; charset=utf-8";
const bytes = "application/octet-stream";
const json = "application/json";
const xml = "application/xml";
const gzip = "application/gzip";
const key = "application/pgp-keys";
const signature = "application/pgp-signature";
const manifest = "application/vnd.oci.image.manifest.v1+json";

/** Compressed indexes are sent as they are: no host adds Content-Encoding. The first match counts. */
const table: readonly [FeedName, RegExp, FeedPath["role"], string][] = [
  ["apt", /^dists\/.+\/by-hash\/SHA256\/[0-9a-f]{64}$/, "immutable", bytes],
  ["apt", /^dists\/[^/]+\/InRelease$/, "pointer", text],
  ["apt", /^dists\/[^/]+\/Release\.gpg$/, "pointer", signature],
  ["apt", /^dists\/[^/]+\/Release$/, "pointer", text],
  ["apt", /^dists\/[^/]+\/Release\.undated$/, "copy", text],
  ["apt", /^dists\/.+\/Packages$/, "copy", text],
  ["apt", /^dists\/.+\/Packages\.gz$/, "copy", gzip],
  ["apt", /^dists\/.+\/Packages\.xz$/, "copy", "application/x-xz"],
  ["apt", /^[^/]+\.sources$/, "copy", text],
  ["yum", /^yum\/[0-9a-f]{64}\/repodata\/.+\.gz$/, "immutable", gzip],
  ["yum", /^yum\/[0-9a-f]{64}\/repodata\/.+\.asc$/, "immutable", signature],
  ["yum", /^yum\/[0-9a-f]{64}\/repodata\/.+\.xml$/, "immutable", xml],
  ["yum", /^yum\/[^/]+\.mirrorlist$/, "pointer", text],
  ["yum", /^yum\/[^/]+\/repodata\/[0-9a-f]{64}-.+\.gz$/, "immutable", gzip],
  ["yum", /^yum\/[^/]+\/repodata\/repomd\.xml\.asc$/, "copy", signature],
  ["yum", /^yum\/[^/]+\/repodata\/repomd\.xml$/, "copy", xml],
  ["yum", /^[^/]+\.repo$/, "copy", text],
  ["helm", /^charts\/(?:[a-z][a-z0-9-]*\/)?index\.yaml$/, "pointer", "application/yaml"],
  ["helm", /^v2\/.+\/blobs\/sha256:[0-9a-f]{64}$/, "immutable", bytes],
  ["helm", /^v2\/.+\/manifests\/sha256:[0-9a-f]{64}$/, "immutable", manifest],
  ["helm", /^v2\/.+\/manifests\/[^/]+$/, "copy", manifest],
  ["helm", /^v2\/.+\/tags\/list$/, "pointer", json],
  ["helm", /^v2\/(index\.json)?$/, "copy", json],
  ["incus", /^streams\/[0-9a-f]{64}\.incus\.tar\.xz$/, "immutable", "application/x-xz"],
  ["incus", /^streams\/v1\/images\.json$/, "copy", json],
  ["incus", /^streams\/v1\/index\.json$/, "pointer", json],
  // Not immutable: a certificate keeps its fingerprint when its expiry is extended.
  ["apt", /^keys\/[^/]+\.asc$/, "copy", key],
];

export const feedPaths: readonly FeedPath[] = table.map(([feed, path, role, contentType]) => {
  return { feed, path, role, contentType };
});

/**
 * A signed folder is as deep as the copy at `yum/NAME`: relative URLs in indexes of earlier versions fit both.
 * @param sha256 of repomd.xml followed by repomd.xml.asc
 */
export const yumFolder = (sha256: string): string => `yum/${sha256}`;

/** No other program names folders like this. */
export const isInYumFolder = (path: string): boolean => /^yum\/[0-9a-f]{64}\//.test(path);

/** Metadata tarball of a disk for Incus. LXD saves it under this name, whose ending its users expect. */
export const incusTarballPath = (sha256: string): string => `streams/${sha256}.incus.tar.xz`;

export const feedFolders = ["charts", "dists", "keys", "streams", "v2", "yum"] as const;

const inFeeds = new RegExp(`^(?:${feedFolders.join("|")})/|^[^/]+\\.(?:sources|repo)$`);

export const feedPath = (path: string): FeedPath | undefined =>
  inFeeds.test(path) ? feedPaths.find((entry) => entry.path.test(path)) : undefined;

export const isImmutableInFeed = (path: string): boolean => feedPath(path)?.role === "immutable";

/** The digest in a path, and the files whose concatenated bytes have it. @returns undefined for paths without a hash */
export function hashInFeed(path: string): { sha256: string; of: readonly string[] } | undefined {
  if (!isImmutableInFeed(path)) return undefined;
  const [repomd, folder = ""] = /^yum\/([0-9a-f]{64})\/repodata\/repomd\.xml(?=$|\.asc$)/.exec(path) ?? [];
  if (repomd !== undefined) return { sha256: folder, of: [repomd, `${repomd}.asc`] };
  const [, hash] = /(?:^|[/:])([0-9a-f]{64})(?:[-.][^/]*)?$/.exec(path) ?? [];
  return hash === undefined ? undefined : { sha256: hash, of: [path] };
}
