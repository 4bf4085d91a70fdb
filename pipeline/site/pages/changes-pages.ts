import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { foundName } from "../search-index.ts";
import { artifactsUnit } from "./artifact-view.ts";
import { page, pageLayout } from "./page-layout.ts";
import type { PageModel } from "./page-models.ts";
import type { PagePieces } from "./page-pieces.ts";
import type { Templates } from "./templates.ts";

/**
 * `changes/{version}/`: what changed since the previous release. It names no later release, so a new one does
 * not change it.
 * @param previous undefined: it is the first release
 */
export function changesPage(
  piece: PagePieces,
  previous: PagePieces | undefined,
  config: SiteConfig,
  templates: Templates,
): OutputFile {
  const { version, date, provisional } = piece;
  const path = `changes/${version}/index.html`;
  const since = previous ? `since ${previous.version}` : "in the first release";
  const head = {
    title: `Changes in ${version}`,
    description: `Changes in ${config.product} ${version} ${since}: release notes, new files and removed files.`,
    provisional: [piece, previous].flatMap((each) => (each?.provisional ? [each.version] : [])),
  };
  return page(path, "changes", templates, () => ({
    layout: pageLayout(path, head, config, templates),
    version,
    date,
    href: releasePath(version),
    provisional,
    previous: previous
      ? { version: previous.version, href: releasePath(previous.version), changes: `../${previous.version}/` }
      : null,
    ...comparedFiles(piece, previous),
    summaryHtml: piece.summaryHtml(),
    notesHtml: piece.notesHtml(),
    compare: `../?to=${version}`,
  }));
}

const releasePath = (version: string): string => `../../releases/${version}/`;

/** `changes/`: a script compares any two releases there. */
export function comparePage(config: SiteConfig, templates: Templates): OutputFile {
  const path = "changes/index.html";
  const description = `Changes between any two releases of ${config.product}: notes, new files and removed files.`;
  const head = { title: "Compare versions", description, script: "changes" } as const;
  return page(path, "compare", templates, () => ({
    layout: pageLayout(path, head, config, templates),
    all: "../releases/",
  }));
}

/** Two files are the same one if the names of the files differ only in the version. Withdrawn files count as files. */
function comparedFiles(piece: PagePieces, previous: PagePieces | undefined) {
  const [newer, older] = [filesOf(piece), previous ? filesOf(previous) : new Map<string, ChangedFile>()];
  const added = missingIn(older, newer);
  const same = newer.size - added.length;
  return { added, removed: missingIn(newer, older), same, unit: artifactsUnit(same) };
}

type ChangedFile = PageModel<"changes">["added"][number];

function filesOf({ version, files }: PagePieces): Map<string, ChangedFile> {
  return new Map(
    files().map((file) => [
      (file.file || file.name).replaceAll(version, "\0"),
      { name: foundName(file), href: `${releasePath(version)}#p${file.id}`, withdrawn: file.withdrawn },
    ]),
  );
}

const missingIn = (known: ReadonlyMap<string, unknown>, files: ReadonlyMap<string, ChangedFile>) =>
  [...files].filter(([pattern]) => !known.has(pattern)).map(([, file]) => file);
