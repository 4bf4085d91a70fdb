import { createRequire } from "node:module";
import { gzip } from "pako";
import { failure } from "../../../shared/errors.ts";
import type { FeedName } from "../../documents/feeds/settings.ts";
import type {
  FeedConfig,
  OutputGroup,
  PublishedPackage,
  PublishedRelease,
  SiteConfig,
} from "../../documents/published.ts";
import { isRelativePath } from "../../documents/relative-path.ts";
import type { BuildCopies } from "../../documents/site.ts";

/**
 * A package repository in the format of a package manager, assembled from the releases' records. All functions are
 * pure. The build remembers `rows` of each release, so that an index is written again without reading releases.
 */
export interface Feed<Row = unknown> {
  readonly name: FeedName;
  /** @param release public records, without withdrawn ones */
  part(release: PublishedRelease, config: FeedConfig): FeedPart<Row>;
  /** The packages that the feed's indexes list. @param rows of all releases */
  indexes(rows: readonly Row[], config: FeedConfig): FeedIndex[];
  /** Digests such as `sha256:…` of an OCI registry's tags, by path, which web servers send. @param rows as for `groups` */
  tags?(rows: readonly Row[], config: FeedConfig): ReadonlyMap<string, string>;
  /** Artifacts at further paths, which are not files of the build. @param rows of all releases, newest first */
  copies?(rows: readonly Row[], config: FeedConfig): BuildCopies;
  /**
   * Groups whose keys change with their content only, so that an unchanged index is kept.
   * @param rows of all releases, newest release first
   * @param isSigned whether `sign` signs the feed; part of the groups' keys
   */
  groups(rows: readonly Row[], config: SiteConfig, isSigned: boolean): Iterable<OutputGroup>;
}

export interface FeedPart<Row> {
  /** Plain data that JSON can express. */
  rows: Row[];
  /** Records of the feed's package formats that it cannot list. */
  omitted: OmittedPackage[];
}

export interface FeedIndex<Row = { id: number }> {
  /** Suite of apt, repository of yum; "" for a feed with one index. */
  name: string;
  listed: Row[];
  /** Records whose place another one took. */
  replaced: OmittedPackage[];
}

export interface OmittedPackage {
  id: number;
  file: string;
  /** A clause that completes "is not in the feed, because …". */
  reason: string;
}

/** @param rowOf returns a reason for a package that the feed cannot list, and undefined for one of another format */
export function partOf<Row extends object>(
  packages: readonly PublishedPackage[],
  rowOf: (entry: PublishedPackage) => Row | string | undefined,
): FeedPart<Row> {
  const part: FeedPart<Row> = { rows: [], omitted: [] };
  for (const entry of packages) {
    const row = rowOf(entry);
    if (typeof row === "string") part.omitted.push({ id: entry.record.id, file: entry.file, reason: row });
    else if (row) part.rows.push(row);
  }
  return part;
}

/**
 * Clients cannot distinguish records of the same identity, so an index lists the newest of them.
 * @param reason names the identity, and the id of the newest record
 */
export function indexOf<Row extends { id: number; file: string }>(
  name: string,
  rows: readonly Row[],
  identityOf: (row: Row) => string,
  reason: (identity: string, id: number) => string,
): FeedIndex<Row> {
  const newest = new Map<string, Row>();
  for (const row of rows) {
    const other = newest.get(identityOf(row));
    if (!other || other.id < row.id) newest.set(identityOf(row), row);
  }
  const replaced = rows.flatMap((row) => {
    const { id } = newest.get(identityOf(row)) ?? row;
    return id === row.id ? [] : [{ id: row.id, file: row.file, reason: reason(identityOf(row), id) }];
  });
  return { name, listed: [...newest.values()], replaced };
}

/** The reason for a record whose manifest has no `package`. */
export const unread = "its manifest does not contain the metadata of the package";
export const notBelowSite = "its file is not below the site";
/** Continues with the path. */
export const unusablePath = "apt cannot ask for a file with the path";
export const noChecksum = "it has no checksum";
export const noSize = "its manifest has no size";
export const noSuite = "no suite of catalog.yaml takes it";
export const noRepository = "its name matches no repository in catalog.yaml";
/** Continues with the name of another file. */
export const indistinguishable = "clients cannot tell it from";
export const unknownMachine = "nothing says which architecture it is for";

export interface FeedLocation {
  /** Below the site's root, decoded. */
  path: string;
  size: number;
  sha256: string;
}

/** @returns a reason if the package has no size or no checksum, or is not a file below the site */
export function feedLocation(entry: PublishedPackage, baseUrl: string): FeedLocation | string {
  const { url, size, record } = entry;
  if (!url.startsWith(`${baseUrl}/`)) return notBelowSite;
  if (size === null) return noSize;
  if (!/^[0-9a-f]{64}$/.test(record.checksum)) return noChecksum;
  const path = decodedPath(url.slice(baseUrl.length + 1));
  if (path === undefined) return "its URL is not that of a plain file";
  return { path, size, sha256: record.checksum };
}

/** Manifests may contain any URL. Those with a query, or that do not decode to a path, are in no index. */
function decodedPath(encoded: string): string | undefined {
  if (/[?#]/.test(encoded)) return undefined;
  try {
    const path = decodeURIComponent(encoded);
    return isRelativePath(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Signed indexes name these bytes, so they must not change with Node's version: docs/decisions/0040. */
export const gzipped = (bytes: Uint8Array): Uint8Array => gzip(bytes, { level: 9 });

export const xzipped = (bytes: Uint8Array): Uint8Array => encoder().xz.compressSync(bytes);

/** Loaded only if a feed is written: its native part may be missing, and most projects need none. */
function encoder(): typeof import("@napi-rs/lzma") {
  try {
    return createRequire(import.meta.url)("@napi-rs/lzma");
  } catch (cause) {
    throw failure(
      "decoder-missing",
      "xz files cannot be written: the part of @napi-rs/lzma for this machine is not installed",
      'Run npx -c "npm install" in the project. npm leaves that part out if its own Node is too old for it.',
      undefined,
      cause,
    );
  }
}
