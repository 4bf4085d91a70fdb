import type { OutputFile, PublishedRelease, RenderedRelease } from "../../../pipeline/documents/published.ts";
import { digestOf } from "../../../pipeline/journal/digest.ts";
import { type PagePieces, pageGroups, releasePieces } from "../../../pipeline/site/pages/list-pages.ts";
import type { Templates } from "../../../pipeline/site/pages/templates.ts";
import { slicesOf } from "../../../pipeline/site/slices.ts";
import {
  attributeOf,
  configOf,
  elementsOf,
  packageOf,
  releaseOf,
  retractedOf,
  templates,
  textOf,
  wordsOf,
} from "./factory.ts";

const config = configOf();

/** The pages that span releases. */
export function pagesOf(
  of: readonly PublishedRelease[],
  changed = config,
  using: Templates = templates,
): OutputFile[] {
  const pieces = of.map((release) => releasePieces(renderedOf(release, changed, using), changed));
  return groupsOf(pieces, changed, using).filter(({ path }) => path.endsWith(".html"));
}

const groupsOf = (pieces: readonly PagePieces[], changed: typeof config, using: Templates) =>
  [...pageGroups(pieces, digestOf(changed), changed, using)].flatMap(({ files }) => [...files]);

/** `sitemap.xml` of these releases. */
export const siteMapOf = (of: readonly PublishedRelease[]): string => {
  const pieces = of.map((release) => releasePieces(renderedOf(release, config, templates), config));
  const file = groupsOf(pieces, config, templates).find(({ path }) => path === "sitemap.xml");
  if (!file) throw new Error("no sitemap.xml");
  return textOf(file);
};

const renderedOf = (release: PublishedRelease, changed: typeof config, using: Templates): RenderedRelease => {
  const { version, date, releasedAt, summary, provisional, packages, retracted } = release;
  const listed = packages.map(({ record: { id, platform, package_type } }) => {
    return { id, platform, packageType: package_type };
  });
  const key = digestOf(release);
  const slices = slicesOf(release, true, changed, using);
  return { key, version, date, releasedAt, summary, provisional, packages: listed, retracted, slices };
};

export const siteOf = (of: readonly PublishedRelease[], changed = config): Map<string, string> =>
  new Map(pagesOf(of, changed).map((file) => [file.path, textOf(file)]));

export const pageOf = (site: Map<string, string>, path: string): string => {
  const html = site.get(path);
  if (html === undefined) throw new Error(`no ${path} among ${[...site.keys()].join(" ")}`);
  return html;
};

const deb = { package_type: "deb", platform: 7, operating_system: "linux" };
export const releases = [
  releaseOf("26.09.001", { packages: [packageOf(32), packageOf(31, { ...deb, name: "new.deb" })] }),
  releaseOf("26.08.002", { packages: [packageOf(22)], summary: "See [the notes](#notes)." }),
  releaseOf("26.08.001", {
    packages: [
      packageOf(12, { package_type: "qcow-efi", name: "efi.qcow2" }),
      packageOf(11, { ...deb, name: "old.deb" }),
    ],
    retracted: [retractedOf(10, { package_type: "xen" })],
  }),
];
export const site = siteOf(releases);

export const rowsOf = (html: string): string[] =>
  elementsOf(html, "tr")
    .filter((row) => attributeOf(row, "data-type") !== undefined)
    .map((row) => wordsOf(row));
