import {
  isPrimaryFile,
  type RpmEntry,
  type RpmMetadata,
  sourcePackage,
} from "../../../shared/package-metadata.ts";
import type { PublishedPackage, PublishedRelease, SiteConfig } from "../../documents/published.ts";
import { isOffered, memberOf } from "../../selection/channels.ts";
import { nevra, yumReposOf } from "../../selection/feed-indexes.ts";
import { type FeedLocation, type FeedPart, feedLocation, noRepository, partOf, unread } from "./feed.ts";
import { updatedPackage, type YumAdvisory, yumAdvisories } from "./yum-advisory.ts";
import { element, parent } from "./yum-xml.ts";

export interface YumRow {
  packages: YumPackage[];
  /** Withdrawals, and changes of channels. */
  changes: YumChange[];
  advisories: YumAdvisory[];
}

interface YumChange {
  repos: string[];
  /** Time of its newest ledger line, in seconds since 1970. */
  time: number;
}

export interface YumPackage extends YumChange {
  id: number;
  file: string;
  nevra: string;
  keyId: string | null;
  /** Its elements in primary.xml, filelists.xml, other.xml and updateinfo.xml. */
  primary: string;
  filelists: string | null;
  other: string | null;
  updated: string | null;
}

/** The rows of a release, which are none or one. */
export function yumPart(release: PublishedRelease, config: SiteConfig): FeedPart<YumRow> {
  const changes = changesOf(release, config);
  const advisories = yumAdvisories(release, config);
  const isSecurityUpdate = advisories.length > 0;
  const { rows: packages, omitted } = partOf(release.packages, (entry) =>
    listedPackage(entry, release, isSecurityUpdate, config),
  );
  const isEmpty = packages.length === 0 && changes.length === 0;
  return { rows: isEmpty ? [] : [{ packages, changes, advisories }], omitted };
}

/** @returns a reason for an rpm that cannot be listed; undefined for other packages */
function listedPackage(
  entry: PublishedPackage,
  release: PublishedRelease,
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
  const { key_id: keyId } = (record.data.attestation ?? {}) as { key_id?: unknown };
  if (/[\ufffe\uffff]/.test(location.path)) return "its file name has a character that XML cannot carry";
  return {
    id: record.id,
    file,
    repos: repos.filter(({ channel }) => isOffered(release, channel)).map(({ name }) => name),
    nevra: nevra(metadata),
    time: secondsOf(record.modified_date),
    keyId: typeof keyId === "string" ? keyId : null,
    primary: primaryPackage(metadata, location, baseUrl),
    filelists: yum.filelists ? filelistsPackage(metadata, location) : null,
    other: yum.changelogs ? otherPackage(metadata, location) : null,
    updated: isSecurityUpdate ? updatedPackage(metadata, file, location) : null,
  };
}

/** Changes after which a repository may have fewer packages: clients ignore an index with an earlier time. */
function changesOf(release: PublishedRelease, { feeds: { yum } }: SiteConfig): YumChange[] {
  if (!yum) return [];
  const withdrawn = release.retracted
    .filter(({ package_type: type }) => type === "rpm")
    .map(({ file, at }) => ({ repos: yumReposOf(file, yum).map(({ name }) => name), time: secondsOf(at) }));
  const moved = release.packages
    .filter(({ metadata }) => metadata?.type === "rpm")
    .flatMap(({ file }) => yumReposOf(file, yum))
    .flatMap(({ name, channel }) => {
      const changed = memberOf(release, channel)?.changed;
      return changed ? [{ repos: [name], time: secondsOf(changed) }] : [];
    });
  return [...withdrawn, ...moved];
}

const secondsOf = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1000);

/**
 * Elements and their order are those of createrepo_c. Mirrors put `href` below the repository's folder, so it never leaves
 * that folder; dnf and zypper percent-encode it. zypper ignores `xml:base`, and uses the second line of the mirrorlist.
 */
export function primaryPackage(rpm: RpmMetadata, location: FeedLocation, baseUrl: string): string {
  return parent("package", { type: "rpm" }, [
    element("name", {}, rpm.name),
    element("arch", {}, rpm.native_arch),
    version(rpm),
    element("checksum", { type: "sha256", pkgid: "YES" }, location.sha256),
    element("summary", {}, rpm.summary),
    element("description", {}, rpm.description),
    element("packager", {}, rpm.packager),
    element("url", {}, rpm.url),
    element("time", { file: rpm.build_time, build: rpm.build_time }),
    element("size", { package: location.size, installed: rpm.size.installed, archive: rpm.size.archive }),
    element("location", { "xml:base": `${baseUrl}/`, href: location.path }),
    format(rpm),
  ]);
}

export const filelistsPackage = (rpm: RpmMetadata, { sha256 }: FeedLocation): string =>
  parent("package", { pkgid: sha256, name: rpm.name, arch: rpm.native_arch }, [
    version(rpm),
    ...rpm.files.map(fileElement),
  ]);

export const otherPackage = (rpm: RpmMetadata, { sha256 }: FeedLocation): string =>
  parent("package", { pkgid: sha256, name: rpm.name, arch: rpm.native_arch }, [
    version(rpm),
    ...(rpm.changelogs ?? []).map(({ author, time, text }) =>
      element("changelog", { author, date: time }, text),
    ),
  ]);

const version = ({ epoch, version, release }: RpmMetadata): string =>
  element("version", { epoch, ver: version, rel: release });

function format(rpm: RpmMetadata): string {
  const [start = 0, end = 0] = rpm.header_range;
  return parent("format", {}, [
    element("rpm:license", {}, rpm.license),
    element("rpm:vendor", {}, rpm.vendor),
    element("rpm:group", {}, rpm.group),
    element("rpm:buildhost", {}, rpm.buildhost),
    element("rpm:sourcerpm", {}, rpm.sourcerpm),
    element("rpm:header-range", { start, end }),
    ...dependencies
      .filter((kind) => rpm[kind].length > 0)
      .map((kind) => parent(`rpm:${kind}`, {}, rpm[kind].map(dependency))),
    ...rpm.files.filter(({ path }) => isPrimaryFile(path)).map(fileElement),
  ]);
}

const dependencies = [
  ...(["provides", "requires", "conflicts", "obsoletes"] as const),
  ...(["suggests", "enhances", "recommends", "supplements"] as const),
];

const dependency = ({ name, flags, epoch, version: ver, release: rel, pre }: RpmEntry): string =>
  element("rpm:entry", { name, flags, epoch, ver, rel, pre: pre ? 1 : undefined });

const fileElement = ({ path, type }: RpmMetadata["files"][number]): string =>
  element("file", type === "file" ? {} : { type }, path);
