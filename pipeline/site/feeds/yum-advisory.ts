import type { RpmMetadata } from "../../../shared/package-metadata.ts";
import { feedSlug } from "../../documents/feeds/signing.ts";
import type { Note } from "../../documents/note.ts";
import type { PublishedRelease, SiteConfig } from "../../documents/published.ts";
import { withoutForbidden } from "../escape.ts";
import { plainText } from "../plain-text.ts";
import type { FeedLocation } from "./feed.ts";
import { element, parent } from "./yum-xml.ts";

/** Children of an element `update` without its packages, which differ by repository. */
export type YumAdvisory = string[];

/** One for each vulnerability that notes describe, and one for all other notes that name a fixed one. */
export function yumAdvisories(release: PublishedRelease, config: SiteConfig): YumAdvisory[] {
  const described = release.notes.filter(({ advisory }) => advisory);
  const others = release.notes.filter(({ security, advisory }) => security && !advisory);
  return [
    ...(others.length > 0 ? [yumAdvisory(others, release, config)] : []),
    ...described.map((note) => yumAdvisory([note], release, config)),
  ];
}

const yumSeverities = { low: "Low", medium: "Moderate", high: "Important", critical: "Critical" };

/** @param notes one note that describes a vulnerability, or several that do not */
function yumAdvisory(notes: readonly Note[], release: PublishedRelease, config: SiteConfig): YumAdvisory {
  const advisory = notes[0]?.advisory;
  const id = advisory?.id ?? `${feedSlug(config.product)}-${release.version}`;
  const title = withoutForbidden(`${config.product} ${release.version}`);
  const href = `${config.baseUrl}/releases/${release.version}/`;
  return [
    element("id", {}, id),
    element("title", {}, title),
    element("issued", { date: `${release.date} 00:00:00` }),
    ...(advisory ? [element("severity", {}, yumSeverities[advisory.severity])] : []),
    element("summary", {}, release.summary === null ? title : printable(release.summary)),
    element("description", {}, notes.map(({ text }) => printable(text)).join("\n\n")),
    parent("references", {}, [
      element("reference", { href, id, type: "self", title }),
      ...referencesOf(notes.flatMap(({ refs }) => refs)),
    ]),
  ];
}

/** @param packages elements `package` of one repository */
export const updateElement = (
  advisory: YumAdvisory,
  packages: readonly string[],
  repo: string,
  product: string,
): string =>
  parent("update", { from: withoutForbidden(product), status: "final", type: "security", version: "1" }, [
    ...advisory,
    parent("pkglist", {}, [parent("collection", { short: repo }, [element("name", {}, repo), ...packages])]),
  ]);

export const updatedPackage = (rpm: RpmMetadata, file: string, { sha256 }: FeedLocation): string => {
  const { name, epoch, version, release, native_arch: arch, sourcerpm: src } = rpm;
  return parent("package", { name, version, release, epoch, arch, src }, [
    element("filename", {}, withoutForbidden(file)),
    element("sum", { type: "sha256" }, sha256),
  ]);
};

/** `dnf --cve` and `zypper --cve` look for the ids of vulnerabilities. */
function referencesOf(refs: readonly string[]): string[] {
  const references = refs.flatMap((ref) => {
    const href = /^https?:\/\//.test(ref) ? withoutForbidden(ref) : undefined;
    const ids = ref.toUpperCase().match(/CVE-\d{4}-\d{4,}/g);
    if (ids) return ids.map((id) => element("reference", { href, id, type: "cve", title: id }));
    const id = withoutForbidden(ref);
    return [element("reference", { href, id, type: "other", title: id })];
  });
  return [...new Set(references)];
}

const printable = (markdown: string): string => withoutForbidden(plainText(markdown));
