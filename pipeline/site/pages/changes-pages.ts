import type { ListedPackage, OutputFile } from "../../documents/published.ts";
import { type Pairable, pairFiles } from "../../selection/pair-files.ts";
import { artifactsUnit, sizeText } from "./artifact-view.ts";
import { type PageSite, page } from "./page-layout.ts";
import type { PagePieces } from "./page-pieces.ts";

/** A page names no later release, so a new one does not change it. @param previous undefined: it is the first release */
export function changesPage(piece: PagePieces, previous: PagePieces | undefined, site: PageSite): OutputFile {
  const { version, date, provisional } = piece;
  const path = `changes/${version}/index.html`;
  const since = previous ? `since ${previous.version}` : "in the first release";
  const head = {
    title: `Changes in ${version}`,
    description: `Changes in ${site.config.product} ${version} ${since}: release notes, new files and removed files.`,
    provisional: [piece, previous].flatMap((each) => (each?.provisional ? [each.version] : [])),
  };
  return page(path, "changes", head, site, (layout) => ({
    layout,
    version,
    date,
    href: releasePath(version),
    provisional,
    previous: previous
      ? { version: previous.version, href: releasePath(previous.version), changes: `../${previous.version}/` }
      : null,
    ...comparedFiles(piece, previous),
    summaryHtml: piece.summaryHtml(),
    notesHtml: piece.slices.notes(),
    compare: `../?to=${version}`,
  }));
}

const releasePath = (version: string): string => `../../releases/${version}/`;

/** `changes/`: a script compares any two releases there. */
export function comparePage(site: PageSite): OutputFile {
  const description = `Changes between any two releases of ${site.config.product}: notes, new files and removed files.`;
  const head = { title: "Compare versions", description, script: "changes" } as const;
  return page("changes/index.html", "compare", head, site, (layout) => ({ layout, all: "../releases/" }));
}

/** Pairs on a page, so that it stays below 100 KB. */
const maxKept = 100;

function comparedFiles(piece: PagePieces, previous: PagePieces | undefined) {
  const { pairs, added, removed } = pairFiles(previous ? filesOf(previous) : [], filesOf(piece));
  return {
    added: added.map(viewOf),
    removed: removed.map(viewOf),
    same: pairs.length,
    kept: pairs
      .slice(0, maxKept)
      .map(([before, after]) => ({ before: viewOf(before), after: viewOf(after) })),
    more: Math.max(0, pairs.length - maxKept),
    unit: artifactsUnit(pairs.length),
  };
}

type ComparedFile = Pairable & {
  content: { id: number; name: string; version: string };
} & Partial<ListedPackage>;

const filesOf = ({ version, slices, retracted }: PagePieces): ComparedFile[] => [
  ...slices.facts().packages.map((file) => ({ ...file, content: file.record })),
  ...retracted.map((content) => ({ file: content.file, content: { ...content, version } })),
];

const viewOf = ({ file, content: { id, name, version }, record, size, packageVersion }: ComparedFile) => ({
  name: file === name ? name : `${name} (${file})`,
  href: `${releasePath(version)}#p${id}`,
  about: [packageVersion ?? "", size == null ? "" : sizeText(size)].filter(Boolean),
  withdrawn: !record,
});
