import { isImmutableInFeed } from "../documents/feeds/paths.ts";
import { cacheControl, cachingOf, isHashedAsset, mediaType } from "../documents/file-headers.ts";
import type { PublicFile } from "../documents/site-store.ts";

/** This file activates new metadata; it is the only one below metadata/ that is ever replaced. */
export const timestampPath = "metadata/timestamp.json";

export const listPath = "api/v1/package/index.json";

/** Documents that clients request at the address of their folder, which file hosts without index documents store too. */
const folderAddresses: ReadonlyMap<string, string> = new Map([
  ["api/v1/package/", listPath],
  ["v2/", "v2/index.json"],
]);

/** Configuration for web servers, not served to clients. */
export const isHosting = (path: string): boolean => path.startsWith("hosting/");

const isSignature = (path: string) =>
  path.startsWith("targets/") || (path.startsWith("metadata/") && path !== timestampPath);

const isImmutable = (path: string) => isHashedAsset(path) || isImmutableInFeed(path) || isSignature(path);

/** True if signing chose the path, which then contains a version or a hash. */
export const isSigned = (path: string): boolean =>
  /^metadata\/\d+\.[^/]+\.json$|^targets\/(.+\/)?[0-9a-f]{64}\.[^/]+$/.test(path);

/** True for paths that signing adds outside of metadata/ and targets/. */
export const isAddition = (path: string): boolean => additions.some((pattern) => pattern.test(path));

const additions = [
  /^allowed_signers$/,
  /^\.well-known\/(?:security\.txt|packslip\.json)$/,
  /^releases\/[^/]+\/(SHA256SUMS\.sig|provenance\.json|packslip\.sigstore\.json)$/,
  /^dists\/[^/]+\/(InRelease|Release|Release\.gpg)$/,
  /^yum\/[^/]+\/repodata\/repomd\.xml\.asc$/,
  /^yum\/[0-9a-f]{64}\/repodata\/[^/]+$/,
  /^yum\/[^/]+\.mirrorlist$/,
  /^keys\/packslip\.pub$/,
];

type Known = Readonly<Record<string, { sha256: string; size: number }>>;

/** Public files of a build and its signatures. @param provisional versions, for a site without permanent builds */
export function publicFiles(files: Known, provisional: readonly string[]): PublicFile[] {
  return Object.entries(files)
    .filter(([path]) => !isHosting(path))
    .map(([path, { sha256, size }]) => ({
      path,
      sha256,
      size,
      headers: {
        contentType: mediaType(path),
        cacheControl: isSignature(path) ? cacheControl.immutable : cachingOf(path),
        ...(provisional.length > 0 && { metadata: { "relcat-provisional": provisional.join(",") } }),
      },
      isImmutable: isImmutable(path),
    }));
}

/** For hosts without index documents. */
export function withFolderAddresses(files: readonly PublicFile[]): PublicFile[] {
  const folders = [...folderAddresses].flatMap(([address, document]) => {
    const file = files.find(({ path }) => path === document);
    return file ? [{ ...file, path: address }] : [];
  });
  return [...files, ...folders];
}

export const sourceOf = (path: string): string => folderAddresses.get(path) ?? path;
