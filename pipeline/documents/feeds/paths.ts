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
export const feedPaths: readonly FeedPath[] = [
  { feed: "apt", path: /^dists\/.+\/by-hash\/SHA256\/[0-9a-f]{64}$/, role: "immutable", contentType: bytes },
  { feed: "apt", path: /^dists\/[^/]+\/InRelease$/, role: "pointer", contentType: text },
  { feed: "apt", path: /^dists\/[^/]+\/Release\.gpg$/, role: "pointer", contentType: signature },
  { feed: "apt", path: /^dists\/[^/]+\/Release$/, role: "pointer", contentType: text },
  { feed: "apt", path: /^dists\/[^/]+\/Release\.undated$/, role: "copy", contentType: text },
  { feed: "apt", path: /^dists\/.+\/Packages$/, role: "copy", contentType: text },
  { feed: "apt", path: /^dists\/.+\/Packages\.gz$/, role: "copy", contentType: gzip },
  { feed: "apt", path: /^dists\/.+\/Packages\.xz$/, role: "copy", contentType: "application/x-xz" },
  { feed: "apt", path: /^[^/]+\.sources$/, role: "copy", contentType: text },
  { feed: "yum", path: /^yum\/[0-9a-f]{64}\/repodata\/.+\.gz$/, role: "immutable", contentType: gzip },
  { feed: "yum", path: /^yum\/[0-9a-f]{64}\/repodata\/.+\.asc$/, role: "immutable", contentType: signature },
  { feed: "yum", path: /^yum\/[0-9a-f]{64}\/repodata\/.+\.xml$/, role: "immutable", contentType: xml },
  { feed: "yum", path: /^yum\/[^/]+\.mirrorlist$/, role: "pointer", contentType: text },
  { feed: "yum", path: /^yum\/[^/]+\/repodata\/[0-9a-f]{64}-.+\.gz$/, role: "immutable", contentType: gzip },
  { feed: "yum", path: /^yum\/[^/]+\/repodata\/repomd\.xml\.asc$/, role: "copy", contentType: signature },
  { feed: "yum", path: /^yum\/[^/]+\/repodata\/repomd\.xml$/, role: "copy", contentType: xml },
  { feed: "yum", path: /^[^/]+\.repo$/, role: "copy", contentType: text },
  {
    feed: "helm",
    path: /^charts\/(?:[a-z][a-z0-9-]*\/)?index\.yaml$/,
    role: "pointer",
    contentType: "application/yaml",
  },
  { feed: "helm", path: /^v2\/.+\/blobs\/sha256:[0-9a-f]{64}$/, role: "immutable", contentType: bytes },
  {
    feed: "helm",
    path: /^v2\/.+\/manifests\/sha256:[0-9a-f]{64}$/,
    role: "immutable",
    contentType: manifest,
  },
  { feed: "helm", path: /^v2\/.+\/manifests\/[^/]+$/, role: "copy", contentType: manifest },
  { feed: "helm", path: /^v2\/.+\/tags\/list$/, role: "pointer", contentType: json },
  { feed: "helm", path: /^v2\/(index\.json)?$/, role: "copy", contentType: json },
  {
    feed: "incus",
    path: /^streams\/[0-9a-f]{64}\.incus\.tar\.xz$/,
    role: "immutable",
    contentType: "application/x-xz",
  },
  { feed: "incus", path: /^streams\/v1\/images\.json$/, role: "copy", contentType: json },
  { feed: "incus", path: /^streams\/v1\/index\.json$/, role: "pointer", contentType: json },
  // Not immutable: a certificate keeps its fingerprint when its expiry is extended.
  { feed: "apt", path: /^keys\/[^/]+\.asc$/, role: "copy", contentType: key },
];

/**
 * Folder of a signed yum repository, which its mirrorlist names. It is as deep as the copy at `yum/NAME`, because
 * indexes of earlier versions have relative URLs that fit both.
 * @param sha256 of repomd.xml followed by repomd.xml.asc
 */
export const yumFolder = (sha256: string): string => `yum/${sha256}`;

/** No other program names folders like this. */
export const isInYumFolder = (path: string): boolean => /^yum\/[0-9a-f]{64}\//.test(path);

/** Metadata tarball of a disk for Incus. LXD saves it under this name, whose ending its users expect. */
export const incusTarballPath = (sha256: string): string => `streams/${sha256}.incus.tar.xz`;

/** Folders at a site's root in which feeds have their files. */
export const feedFolders = ["charts", "dists", "keys", "streams", "v2", "yum"] as const;

const inFeeds = new RegExp(`^(?:${feedFolders.join("|")})/|^[^/]+\\.(?:sources|repo)$`);

/** @param path relative to the site's root */
export const feedPath = (path: string): FeedPath | undefined =>
  inFeeds.test(path) ? feedPaths.find((entry) => entry.path.test(path)) : undefined;

/** Whether the path is in a feed and contains a hash of the file's bytes. */
export const isImmutableInFeed = (path: string): boolean => feedPath(path)?.role === "immutable";

/** The digest in a path, and the files whose concatenated bytes have it. @returns undefined for paths without a hash */
export function hashInFeed(path: string): { sha256: string; of: readonly string[] } | undefined {
  if (!isImmutableInFeed(path)) return undefined;
  const [repomd, folder = ""] = /^yum\/([0-9a-f]{64})\/repodata\/repomd\.xml(?=$|\.asc$)/.exec(path) ?? [];
  if (repomd !== undefined) return { sha256: folder, of: [repomd, `${repomd}.asc`] };
  const [, hash] = /(?:^|[/:])([0-9a-f]{64})(?:[-.][^/]*)?$/.exec(path) ?? [];
  return hash === undefined ? undefined : { sha256: hash, of: [path] };
}
