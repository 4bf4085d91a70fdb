import { architectureOf } from "../../../shared/package-metadata.ts";
import { platformFolder } from "../../../shared/package-types.ts";
import type { OutputFile, PublishedRelease, SiteConfig } from "../../documents/published.ts";
import { csafPath } from "../../documents/site.ts";
import { signatureNamespace, signerOf } from "../../documents/trust.ts";
import { shellWord } from "../../project/display.ts";
import { renderMarkdown } from "../markdown.ts";
import { textFile } from "../output.ts";
import { notesHtml } from "../release-notes.ts";
import { supportText } from "../support-dates.ts";
import { artifactsUnit, artifactView, platformName, withdrawnView } from "./artifact-view.ts";
import { channelPage } from "./channel-pages.ts";
import { downloadGroups } from "./download-groups.ts";
import { type PageSite, pageLayout, rootOf } from "./page-layout.ts";
import type { PageModel } from "./page-models.ts";
import type { Templates } from "./templates.ts";

const maxPageBytes = 100_000;

type Model = PageModel<"release">;

/** Each step leaves more out of the page of a release, while it is too large. */
const shortenings = [{ commands: [], signature: null }, { install: null }, { brief: true }];

/** The section `p{id}` is the page of a record. A page that is too large verifies all files together in one block. */
export function releasePage(
  release: PublishedRelease,
  config: SiteConfig,
  templates: Templates,
): OutputFile[] {
  const path = `releases/${release.version}/index.html`;
  let model = releaseModel(path, release, { config, templates });
  let text = templates.render("release", model);
  for (const shortening of shortenings) {
    if (Buffer.byteLength(text) <= maxPageBytes) break;
    const groups = model.groups.map(({ files, ...group }) => ({
      ...group,
      files: files.map(({ anchor, artifact }) => ({ anchor, artifact: { ...artifact, ...shortening } })),
    }));
    model = { ...model, groups, together: shellWord(`${config.baseUrl}/releases/${release.version}`) };
    text = templates.render("release", model);
  }
  return [textFile(path, text)];
}

function releaseModel(path: string, release: PublishedRelease, site: PageSite): Model {
  const { config } = site;
  const { version, date, provisional, packages } = release;
  const root = rootOf(path);
  const count = packages.length;
  const isGone = count === 0;
  const head = {
    title: version,
    description: `${config.product} ${version} of ${date}: ${count} ${artifactsUnit(count)} to download, with checksums and release notes.`,
    provisional: provisional ? [version] : [],
  };
  return {
    layout: pageLayout(path, head, site),
    version,
    date,
    corrected: release.corrected ?? null,
    provisional,
    summaryHtml: release.summary === null ? "" : renderMarkdown(release.summary, { refs: config.refs }),
    notesHtml: notesHtml(release, config),
    changes: `${root}changes/${version}/`,
    count,
    unit: artifactsUnit(count),
    support: supportText(version, config),
    channels: (isGone ? [] : (release.channels ?? [])).map(({ name, halt }) => {
      return { name, href: `${root}${channelPage(name)}`, halted: halt?.reason ?? "" };
    }),
    isInNoChannel: release.channels?.length === 0 && !isGone,
    withdrawal: withdrawalText(packages.length, release.retracted.length),
    isGone,
    withdrawn: release.retracted.map((record) => withdrawnView(record, release)),
    groups: groupsOf(release, config),
    together: "",
    evidence: evidenceView(release, config),
    files: [
      { href: "SHA256SUMS", text: "SHA256SUMS" },
      { href: "notes.md", text: "Notes, Markdown" },
      { href: "notes.json", text: "Notes, JSON" },
      { href: `${root}api/v1/release/${version}/index.json`, text: "Release, JSON" },
      ...advisoriesOf(release).map((id) => ({ href: `${root}${csafPath(id)}`, text: `${id}, CSAF` })),
    ],
  };
}

/** Ids of the vulnerabilities that have a document, as soon as the release is cut. */
const advisoriesOf = ({ releasedAt, notes }: PublishedRelease): string[] =>
  releasedAt === undefined ? [] : notes.flatMap(({ advisory }) => advisory?.id ?? []);

/** Empty if nothing was withdrawn. */
function withdrawalText(kept: number, withdrawn: number): string {
  if (withdrawn === 0) return "";
  const were = withdrawn === 1 ? "was" : "were";
  if (kept === 0) return "This whole release was withdrawn: do not use it";
  return `${withdrawn} of ${kept + withdrawn} files of this release ${were} withdrawn`;
}

/** Files in groups. The first of each platform has the platform's anchor. */
function groupsOf(release: PublishedRelease, config: SiteConfig): PageModel<"release">["groups"] {
  const files = release.packages.map((entry) => {
    const { record, metadata } = entry;
    const arch = architectureOf(metadata);
    return { platform: record.platform, packageType: record.package_type, arch, entry };
  });
  const seen = new Set<number>();
  const anchorOf = (platform: number) => {
    if (seen.has(platform)) return "";
    seen.add(platform);
    return `platform-${platformFolder(platformName(platform, config))}`;
  };
  return downloadGroups(files, config).map(({ group: { anchor, name }, files }) => ({
    anchor,
    name,
    files: files.map(({ platform, entry }) => {
      return { anchor: anchorOf(platform), artifact: artifactView(entry, release, config) };
    }),
  }));
}

/** @returns null where nothing is signed: without keys, in a preview, and without a file to download */
function evidenceView(
  { version, provisional, packages }: PublishedRelease,
  { trust, builder, baseUrl, authority }: SiteConfig,
): PageModel<"release">["evidence"] {
  const isSigned = trust.profile !== "none" && trust.rootDigest !== "" && !provisional;
  if (!isSigned || packages.length === 0) return null;
  const [site, release] = [shellWord(baseUrl), shellWord(`${baseUrl}/releases/${version}`)];
  return {
    version,
    root: trust.rootDigest,
    signer: shellWord(signerOf(authority)),
    namespace: signatureNamespace,
    site,
    release,
    files: [
      { href: "SHA256SUMS", text: "SHA256SUMS" },
      { href: "SHA256SUMS.sig", text: "SHA256SUMS.sig" },
      { href: "../../allowed_signers", text: "allowed_signers" },
      { href: "../../metadata/1.root.json", text: "1.root.json" },
      ...(builder ? [{ href: "provenance.json", text: "provenance.json" }] : []),
    ],
  };
}
