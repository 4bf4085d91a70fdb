import { pathBelow } from "../../../pipeline/documents/relative-path.ts";
import type { BuildDocument, ReleaseDocument } from "../../../pipeline/documents/site.ts";
import { sha256 } from "../../../pipeline/trust/metadata.ts";
import type { Finding, Listed } from "../../../pipeline/verify/finding.ts";
import { jsonOf, type Tree } from "../tree.ts";

/** The feeds of a build, and what its other documents say of the records. */
export interface BuiltFeeds {
  /** Files of the build. */
  listed: Listed;
  /** Copies of artifacts, by path. */
  copies: NonNullable<BuildDocument["copies"]>;
  /** Live records, by the address of their file. */
  live: ReadonlyMap<string, LiveFile>;
  baseUrl: string;
  /** undefined: the file is missing. */
  read(path: string): Promise<Uint8Array | undefined>;
}

/** The file of a live record. */
export interface LiveFile {
  id: number;
  file: string;
  packageType: string;
  sha256: string;
  /** null: unknown. */
  size: number | null;
}

/** A file that an index names. */
export interface IndexedFile {
  url: string;
  sha256: string;
  /** null: the format of the index has none. */
  size: number | null;
}

/** Result of the comparison of a feed. */
export interface FeedReport {
  findings: Finding[];
  /** Ids of records. */
  ids: Set<number>;
}

export const newReport = (): FeedReport => ({ findings: [], ids: new Set() });

/** Finds the record of a file that an index lists. Clients believe the index, so both must say the same. */
export function noteListed(
  report: FeedReport,
  path: string,
  name: string,
  indexed: IndexedFile,
  { live }: BuiltFeeds,
): void {
  const say = (what: string) => report.findings.push({ path, what });
  const known = live.get(indexed.url);
  if (!known) {
    say(`lists ${name}, expected only files of live records`);
    return;
  }
  report.ids.add(known.id);
  if (indexed.sha256 !== known.sha256)
    say(`lists ${name} with the SHA-256 ${indexed.sha256}, expected ${known.sha256}`);
  if (indexed.size !== null && indexed.size !== known.size)
    say(`lists ${name} with the size ${indexed.size}, expected ${known.size}`);
}

/** Compares a digest and size in an index with a file of the site. */
export function chainFindings(
  path: string,
  file: string,
  named: { sha256: string; size: number },
  { listed }: Pick<BuiltFeeds, "listed">,
): Finding[] {
  const known = Object.hasOwn(listed, file) ? listed[file] : undefined;
  if (!known) return [{ path, what: `names ${file}, which is not in the site` }];
  const findings: Finding[] = [];
  if (named.sha256 !== known.sha256)
    findings.push({
      path,
      what: `names ${file} with the SHA-256 ${named.sha256}, expected ${known.sha256}`,
    });
  if (named.size !== known.size)
    findings.push({
      path,
      what: `names ${file} with the size ${named.size}, expected ${known.size}`,
    });
  return findings;
}

export const textOf = async (site: BuiltFeeds, path: string): Promise<string | undefined> => {
  const bytes = await site.read(path);
  return bytes && new TextDecoder().decode(bytes);
};

/** Address of a file, from its path below the site. */
export const addressBelow = (baseUrl: string, path: string): string =>
  `${baseUrl}/${path.split("/").map(encodeURIComponent).join("/")}`;

/** @param tree every file of a build, with compressed indexes */
export function feedsOf(tree: Tree): BuiltFeeds {
  const build: BuildDocument = jsonOf(tree, "build.json");
  const releases = [...tree.keys()]
    .filter((path) => /^api\/v1\/release\/[^/]+\/index\.json$/.test(path))
    .map((path): ReleaseDocument => jsonOf(tree, path));
  return {
    listed: Object.fromEntries(
      Array.from(tree, ([path, bytes]) => [path, { sha256: sha256(bytes), size: bytes.length }]),
    ),
    copies: build.copies ?? {},
    live: liveFiles(releases, build.base_url),
    baseUrl: build.base_url,
    read: async (path) => tree.get(path),
  };
}

/** Addresses are in the encoding of `addressBelow`, because indexes name decoded paths. */
function liveFiles(releases: readonly ReleaseDocument[], baseUrl: string): Map<string, LiveFile> {
  const live = new Map<string, LiveFile>();
  for (const { packages, artifacts } of releases)
    for (const { id, checksum, package_type: packageType } of packages) {
      const artifact = artifacts[id];
      if (!artifact) continue;
      const { file, url, size } = artifact;
      live.set(sameAddress(baseUrl, url), { id, file, packageType, sha256: checksum, size });
    }
  return live;
}

/** One spelling for addresses of one file. */
export function sameAddress(baseUrl: string, url: string): string {
  const path = pathBelow(baseUrl, url);
  return path === undefined ? url : addressBelow(baseUrl, path);
}
