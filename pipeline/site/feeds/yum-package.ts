import type { RpmEntry, RpmMetadata } from "../../../shared/package-metadata.ts";
import type { FeedLocation } from "./feed.ts";
import { element, parent } from "./yum-xml.ts";

/**
 * Element `package` of primary.xml, with the elements and their order as createrepo_c writes them.
 * Clients that mirror put `href` below the repository's folder, so it never leaves that folder; dnf and zypper
 * percent-encode it themselves. zypper ignores `xml:base` and finds the file by the second line of the mirrorlist.
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

/** Element `package` of filelists.xml. */
export const filelistsPackage = (rpm: RpmMetadata, { sha256 }: FeedLocation): string =>
  parent("package", { pkgid: sha256, name: rpm.name, arch: rpm.native_arch }, [
    version(rpm),
    ...rpm.files.map(fileElement),
  ]);

/** Element `package` of other.xml. */
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
    ...dependencies.flatMap((kind) => dependencyList(kind, rpm[kind])),
    ...rpm.files.filter(({ path }) => isPrimary(path)).map(fileElement),
  ]);
}

const dependencies = [
  ...(["provides", "requires", "conflicts", "obsoletes"] as const),
  ...(["suggests", "enhances", "recommends", "supplements"] as const),
] as const;

const dependencyList = (kind: string, entries: readonly RpmEntry[]): string[] =>
  entries.length === 0 ? [] : [parent(`rpm:${kind}`, {}, entries.map(dependency))];

const dependency = ({ name, flags, epoch, version: ver, release: rel, pre }: RpmEntry): string =>
  element("rpm:entry", { name, flags, epoch, ver, rel, pre: pre ? 1 : undefined });

const fileElement = ({ path, type }: RpmMetadata["files"][number]): string =>
  element("file", type === "file" ? {} : { type }, path);

/** Files that other packages may require by path without filelists.xml. */
const isPrimary = (path: string): boolean =>
  path.startsWith("/etc/") || path.includes("bin/") || path === "/usr/lib/sendmail";
