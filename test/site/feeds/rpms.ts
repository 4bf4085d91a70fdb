import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import type { YumSettings } from "../../../pipeline/documents/feeds/settings.ts";
import type {
  OutputFile,
  PublishedPackage,
  PublishedRelease,
  SiteConfig,
} from "../../../pipeline/documents/published.ts";
import { yumFeed } from "../../../pipeline/site/feeds/yum.ts";
import type { YumRow } from "../../../pipeline/site/feeds/yum-rows.ts";
import type { RpmMetadata } from "../../../shared/package-metadata.ts";
import { configOf, packageOf, textOf } from "../pages/factory.ts";
import { readXml, type XmlElement } from "../pages/xml.ts";

export const rpmOf = (changes: Partial<RpmMetadata> = {}): RpmMetadata => ({
  type: "rpm",
  name: "agent",
  epoch: 0,
  version: "26.8.2",
  release: "1",
  arch: "amd64",
  native_arch: "x86_64",
  summary: "Agent",
  description: "The agent.",
  build_time: 1_787_000_000,
  size: { installed: 4096, archive: 4400 },
  header_range: [4504, 7896],
  provides: [],
  requires: [],
  conflicts: [],
  obsoletes: [],
  recommends: [],
  suggests: [],
  supplements: [],
  enhances: [],
  files: [],
  ...changes,
});

const baseUrl = "https://downloads.example.com/base";

/** A record of an rpm below the site. */
export function rpmRecord(
  id: number,
  metadata: RpmMetadata | null = rpmOf(),
  changes: Parameters<typeof packageOf>[1] = {},
): PublishedPackage {
  const { file = `agent-${id}.x86_64.rpm`, ...fields } = changes;
  const url = `${baseUrl}/files/26.08.002/${encodeURIComponent(file)}`;
  const entry = packageOf(id, { package_type: "rpm", name: file, file, url, ...fields });
  return metadata ? { ...entry, metadata } : entry;
}

export const yumConfig = (
  settings: Partial<YumSettings> = {},
  changes: Partial<SiteConfig> = {},
): SiteConfig =>
  configOf({
    product: "Acme Agent",
    baseUrl,
    feeds: {
      yum: {
        repos: [{ name: "stable", match: undefined }],
        filelists: false,
        changelogs: false,
        ...settings,
      },
    },
    ...changes,
  });

/** The files of the yum feed, as a site has them. @param releases newest first */
export function yumSite(
  releases: readonly PublishedRelease[],
  config = yumConfig(),
  isSigned = false,
): Map<string, OutputFile> {
  const files = yumGroups(releases, config, isSigned).flatMap((group) => [...group.files]);
  return new Map(files.map((file) => [file.path, file]));
}

export const yumRows = (releases: readonly PublishedRelease[], config: SiteConfig): YumRow[] =>
  // The journal keeps rows as JSON.
  JSON.parse(JSON.stringify(releases.flatMap((release) => yumFeed.part(release, config).rows)));

export const yumGroups = (releases: readonly PublishedRelease[], config: SiteConfig, isSigned = false) => [
  ...yumFeed.groups(yumRows(releases, config), config, isSigned),
];

export const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** An index as a client finds it: by repomd.xml, with its digests and sizes checked. */
export function indexOf(
  files: ReadonlyMap<string, OutputFile>,
  type: string,
  folder = "yum/stable",
): XmlElement | undefined {
  const repomd = readXml(textOf(files.get(`${folder}/repodata/repomd.xml`)));
  const data = repomd.children.find(({ attributes }) => attributes.get("type") === type);
  if (!data) return undefined;
  const [checksum, open, size, openSize] = ["checksum", "open-checksum", "size", "open-size"].map((name) =>
    wordOf(data, name),
  );
  const href = attributeIn(data, "location", "href");
  const bytes = Buffer.concat([...(files.get(`${folder}/${href}`)?.chunks ?? [])]);
  const text = gunzipSync(bytes);
  const found = [sha256(bytes), sha256(text), `${bytes.length}`, `${text.length}`];
  if ([checksum, open, size, openSize].join() !== found.join())
    throw new Error(`${href} is not what repomd.xml says`);
  return readXml(text.toString());
}

export const childOf = (element: XmlElement, name: string): XmlElement => {
  const found = element.children.filter((child) => child.name === name);
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} elements ${name} in ${element.name}`);
  return found[0];
};
export const wordOf = (element: XmlElement, name: string) => childOf(element, name).text;
export const attributeIn = (element: XmlElement, name: string, attribute: string) =>
  childOf(element, name).attributes.get(attribute);

/** Names of the rpms that a repository lists, in order. */
export const listedIn = (files: ReadonlyMap<string, OutputFile>, repo = "stable") =>
  indexOf(files, "primary", `yum/${repo}`)?.children.map((entry) => attributeIn(entry, "location", "href"));
