import { platformFolder } from "../../documents/package-types.ts";
import type { OutputFile, PublishedRelease, SiteConfig } from "../../documents/published.ts";
import { renderMarkdown } from "../markdown.ts";
import { textFile } from "../output.ts";
import { notesHtml } from "../release-notes.ts";
import { artifactsUnit, artifactView, platformName, withdrawnView } from "./artifact-view.ts";
import { byName } from "./by-name.ts";
import { pageLayout, rootOf } from "./page-layout.ts";
import type { PageModel } from "./page-models.ts";
import type { Templates } from "./templates.ts";

/** `releases/{version}/index.html`: notes and artifacts; the section `p{id}` is the page of a record. */
export function releasePage(
  release: PublishedRelease,
  config: SiteConfig,
  templates: Templates,
): OutputFile[] {
  const path = `releases/${release.version}/index.html`;
  return [textFile(path, templates.render("release", releaseModel(path, release, config, templates)))];
}

function releaseModel(
  path: string,
  release: PublishedRelease,
  config: SiteConfig,
  templates: Templates,
): PageModel<"release"> {
  const { version, date, provisional, packages } = release;
  const root = rootOf(path);
  const head = { title: version, provisional: provisional ? [version] : [] };
  return {
    layout: pageLayout(path, head, config, templates),
    version,
    date,
    provisional,
    summaryHtml: release.summary === null ? "" : renderMarkdown(release.summary),
    notesHtml: notesHtml(release, config),
    count: packages.length,
    unit: artifactsUnit(packages.length),
    withdrawn: release.retracted.map((record) => withdrawnView(record, release)),
    platforms: artifactsByPlatform(release, config),
    files: [
      { href: "SHA256SUMS", text: "SHA256SUMS" },
      { href: "notes.md", text: "Notes, Markdown" },
      { href: "notes.json", text: "Notes, JSON" },
      { href: `${root}api/v1/release/${version}/index.json`, text: "Release, JSON" },
    ],
  };
}

/** Platforms by name; their artifacts in the order of the release. */
function artifactsByPlatform(
  { packages }: PublishedRelease,
  config: SiteConfig,
): PageModel<"release">["platforms"] {
  const ids = [...new Set(packages.map((entry) => entry.record.platform))];
  return ids
    .map((id) => ({
      anchor: `platform-${platformFolder(platformName(id, config))}`,
      name: platformName(id, config),
      artifacts: packages
        .filter(({ record }) => record.platform === id)
        .map((entry) => artifactView(entry, "", config)),
    }))
    .sort(byName);
}
