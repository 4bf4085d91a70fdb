import { sourcePackage } from "../../../shared/package-metadata.ts";
import type { PublishedPackage, PublishedRelease, SiteConfig } from "../../documents/published.ts";
import { nevra, yumReposOf } from "../../selection/yum-repos.ts";
import { type FeedPart, feedLocation, noRepository, unread } from "./feed.ts";
import { updatedPackage, type YumAdvisory, yumAdvisory } from "./yum-advisory.ts";
import { filelistsPackage, otherPackage, primaryPackage } from "./yum-package.ts";

/** A release's part of all yum repositories. */
export interface YumRow {
  packages: YumPackage[];
  withdrawn: YumChange[];
  advisory: YumAdvisory | null;
}

interface YumChange {
  repos: string[];
  /** Time of its newest ledger line, in seconds since 1970. */
  time: number;
}

/** An rpm as the indexes list it. */
export interface YumPackage extends YumChange {
  id: number;
  file: string;
  nevra: string;
  /** Id of the key that signed it. */
  keyId: string | null;
  /** Its elements in primary.xml, filelists.xml, other.xml and updateinfo.xml. */
  primary: string;
  filelists: string | null;
  other: string | null;
  updated: string | null;
}

/** The rows of a release, which are none or one. */
export function yumPart(release: PublishedRelease, config: SiteConfig): FeedPart<YumRow> {
  const part: FeedPart<YumRow> = { rows: [], omitted: [] };
  const row: YumRow = {
    packages: [],
    withdrawn: withdrawals(release, config),
    advisory: yumAdvisory(release, config),
  };
  for (const entry of release.packages) {
    const listed = listedPackage(entry, row.advisory !== null, config);
    if (typeof listed === "string")
      part.omitted.push({ id: entry.record.id, file: entry.file, reason: listed });
    else if (listed) row.packages.push(listed);
  }
  if (row.packages.length > 0 || row.withdrawn.length > 0) part.rows.push(row);
  return part;
}

/** @returns a reason for an rpm that cannot be listed; undefined for other packages */
function listedPackage(
  entry: PublishedPackage,
  isSecurityUpdate: boolean,
  { baseUrl, feeds: { yum } }: SiteConfig,
): YumPackage | string | undefined {
  const { metadata, record, file } = entry;
  if (!yum) return undefined;
  if (metadata?.type !== "rpm") {
    if (record.package_type !== "rpm") return undefined;
    return sourcePackage.isNamed(file) ? sourcePackage.reason : unread;
  }
  const repos = yumReposOf(file, yum);
  if (repos.length === 0) return noRepository;
  const location = feedLocation(entry, baseUrl);
  if (typeof location === "string") return location;
  if (/[\ufffe\uffff]/.test(location.path)) return "its file name has a character that XML cannot carry";
  return {
    id: record.id,
    file,
    repos,
    nevra: nevra(metadata),
    time: secondsOf(record.modified_date),
    keyId: keyIdOf(entry),
    primary: primaryPackage(metadata, location, baseUrl),
    filelists: yum.filelists ? filelistsPackage(metadata, location) : null,
    other: yum.changelogs ? otherPackage(metadata, location) : null,
    updated: isSecurityUpdate ? updatedPackage(metadata, file, location) : null,
  };
}

function keyIdOf({ record }: PublishedPackage): string | null {
  const { key_id: id } = (record.data.attestation ?? {}) as { key_id?: unknown };
  return typeof id === "string" ? id : null;
}

const withdrawals = ({ retracted }: PublishedRelease, { feeds: { yum } }: SiteConfig): YumChange[] =>
  retracted
    .filter(({ package_type: type }) => type === "rpm")
    .map(({ file, at }) => ({ repos: yum ? yumReposOf(file, yum) : [], time: secondsOf(at) }));

const secondsOf = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1000);
