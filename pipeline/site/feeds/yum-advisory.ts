import type { RpmMetadata } from "../../../shared/package-metadata.ts";
import { feedSlug } from "../../documents/feeds/signing.ts";
import type { PublishedRelease, SiteConfig } from "../../documents/published.ts";
import { withoutForbidden } from "../escape.ts";
import { plainText } from "../plain-text.ts";
import type { FeedLocation } from "./feed.ts";
import { element, parent } from "./yum-xml.ts";

/** Children of an element `update` without its packages, which differ by repository. */
export type YumAdvisory = string[];

/** The advisory of a release whose notes name a fixed vulnerability. Its severity is in no note. */
export function yumAdvisory(release: PublishedRelease, config: SiteConfig): YumAdvisory | null {
  const notes = release.notes.filter(({ security }) => security);
  if (notes.length === 0) return null;
  const id = `${feedSlug(config.product)}-${release.version}`;
  const title = withoutForbidden(`${config.product} ${release.version}`);
  const href = `${config.baseUrl}/releases/${release.version}/`;
  return [
    element("id", {}, id),
    element("title", {}, title),
    element("issued", { date: `${release.date} 00:00:00` }),
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

/** Element `package` of updateinfo.xml. */
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
