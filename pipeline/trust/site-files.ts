import { cacheControl, isHashedAsset, mediaType } from "../documents/file-headers.ts";
import type { PublicFile } from "../documents/site-store.ts";

/** The path that makes new metadata count; only it is ever replaced below metadata/. */
export const timestampPath = "metadata/timestamp.json";

/** The list's address itself: file hosts without index documents answer installers there. */
export const listAddress = "api/v1/package/";
export const listPath = "api/v1/package/index.json";

/** What a build tells web servers: it is nobody's to read. */
export const isHosting = (path: string): boolean => path.startsWith("hosting/");

const isImmutable = (path: string) =>
  isHashedAsset(path) ||
  path.startsWith("targets/") ||
  (path.startsWith("metadata/") && path !== timestampPath);

/** Whether signing gave a path its name, in which a number or a hash stands. */
export const isSigned = (path: string): boolean =>
  /^metadata\/\d+\.[^/]+\.json$|^targets\/(.+\/)?[0-9a-f]{64}\.[^/]+$/.test(path);

type Known = Readonly<Record<string, { sha256: string; size: number }>>;

/**
 * What readers may ask for, of what a build and its signing made.
 * @param provisional versions, for a site where nothing is permanent
 */
export function publicFiles(files: Known, provisional: readonly string[]): PublicFile[] {
  return Object.entries(files)
    .filter(([path]) => !isHosting(path))
    .map(([path, { sha256, size }]) => ({
      path,
      sha256,
      size,
      headers: {
        contentType: mediaType(path),
        cacheControl: isImmutable(path) ? cacheControl.immutable : cacheControl.public,
        ...(provisional.length > 0 && { metadata: { "relcat-provisional": provisional.join(",") } }),
      },
      isImmutable: isImmutable(path),
    }));
}

/** For hosts that know no index documents. */
export function withListAddress(files: readonly PublicFile[]): PublicFile[] {
  const list = files.find(({ path }) => path === listPath);
  return list ? [...files, { ...list, path: listAddress }] : [...files];
}

/** The file whose bytes stand at a path. */
export const sourceOf = (path: string): string => (path === listAddress ? listPath : path);
