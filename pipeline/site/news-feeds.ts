import { firstDayOf } from "../../shared/version.ts";
import type { FeedEntry, OutputFile, PublishedRelease, SiteConfig } from "../documents/published.ts";
import { bdi, escapeHtml, escapeXml, visible } from "./escape.ts";
import { renderMarkdown } from "./markdown.ts";
import { jsonFile, textFile } from "./output.ts";
import { notesHtml } from "./release-notes.ts";

const feedLength = 50;
/** Date of a feed without entries, because the clock would change the bytes. */
const noDate = "2000-01-01T00:00:00Z";

/** The 50 releases that were cut last, newest first, whatever their versions. An open one is newer than all others. */
export function newsOf<Release extends { version: string; releasedAt?: string | undefined }>(
  releases: readonly Release[],
): Release[] {
  const place = ({ version, releasedAt = "~" }: Release) => `${releasedAt} ${version}`;
  return releases.toSorted((a, b) => (place(a) < place(b) ? 1 : -1)).slice(0, feedLength);
}

export function feedEntry(release: PublishedRelease, config: SiteConfig): FeedEntry {
  const { version, date, notes, retracted, histories } = release;
  const advisories = notes.flatMap(({ advisory }) => advisory ?? []);
  const published = release.releasedAt ?? `${date}T00:00:00Z`;
  // A revised record has the same entry.
  const changes = [...retracted, ...[...histories.values()].flat().filter(({ kind }) => kind !== "revised")];
  return {
    id: `tag:${config.authority},${firstDayOf(version).slice(0, 4)}:release/${version}`,
    url: `${config.baseUrl}/releases/${version}/`,
    title: `${config.product} ${version}`,
    published,
    updated: latest([published, ...changes.map(({ at }) => at)]) ?? published,
    html: entryHtml(release, config),
    ...(advisories.length > 0 && { advisories: advisories.map(({ id, severity }) => ({ id, severity })) }),
  };
}

/** Compared without the final Z: otherwise a time with decimals sorts before the same time without. */
const latest = (moments: readonly string[]): string | undefined =>
  moments.toSorted((a, b) => (a.slice(0, -1) < b.slice(0, -1) ? -1 : 1)).at(-1);

function entryHtml(release: PublishedRelease, config: SiteConfig): string {
  const base = `${config.baseUrl}/releases/${release.version}/`;
  const withdrawn = release.retracted.map(({ id, name, reason, replaced_by }) => {
    const by = replaced_by === null ? undefined : release.replacements.get(replaced_by);
    const link = `${config.baseUrl}/releases/${by?.version}/#p${replaced_by}`;
    const instead = by
      ? ` Use <a href="${escapeHtml(link)}">${bdi(by.name)}</a> of ${by.version} instead.`
      : "";
    const stop = /[.!?]$/.test(reason) ? "" : ".";
    return `<p>Withdrawn: ${bdi(name)} (record ${id}). ${bdi(reason)}${stop}${instead}</p>\n`;
  });
  const packages = release.packages.map(
    ({ record, url }) => `<li><a href="${escapeHtml(url)}">${bdi(record.name)}</a></li>\n`,
  );
  const list = packages.length === 0 ? "" : `<h3>Downloads</h3>\n<ul>\n${packages.join("")}</ul>\n`;
  const summary =
    release.summary === null ? "" : renderMarkdown(release.summary, { base, refs: config.refs });
  return visible(withdrawn.join("") + summary + notesHtml(release, config, { base }) + list);
}

/** `feed.atom` (RFC 4287) and `feed.json` (JSON Feed 1.1). @param entries newest first */
export function feedFiles(entries: readonly FeedEntry[], config: SiteConfig): OutputFile[] {
  return [textFile("feed.atom", atom(entries, config)), jsonFile("feed.json", jsonFeed(entries, config))];
}

function atom(entries: readonly FeedEntry[], { product, authority, baseUrl }: SiteConfig): string {
  const x = escapeXml;
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>${x(`tag:${authority},2000:releases`)}</id>
<title type="text">${x(product)}</title>
<updated>${latest(entries.map((entry) => entry.updated)) ?? noDate}</updated>
<author><name>${x(product)}</name></author>
<link rel="self" type="application/atom+xml" href="${x(`${baseUrl}/feed.atom`)}"/>
<link rel="alternate" type="text/html" href="${x(`${baseUrl}/`)}"/>
${entries.map(atomEntry).join("")}</feed>
`;
}

function atomEntry({ id, url, title, published, updated, html, advisories = [] }: FeedEntry): string {
  const x = escapeXml;
  const terms = [
    ...(advisories.length > 0 ? ['<category term="security"/>\n'] : []),
    ...advisories.map(
      (each) => `<category term="${x(each.id)}" label="${x(`${each.id}, ${each.severity}`)}"/>\n`,
    ),
  ];
  return `<entry>
<id>${x(id)}</id>
<title type="text">${x(title)}</title>
<published>${published}</published>
<updated>${updated}</updated>
<link rel="alternate" type="text/html" href="${x(url)}"/>
${terms.join("")}<content type="html">${x(html)}</content>
</entry>
`;
}

const jsonFeed = (entries: readonly FeedEntry[], { product, baseUrl }: SiteConfig) => ({
  version: "https://jsonfeed.org/version/1.1",
  title: visible(product),
  home_page_url: `${baseUrl}/`,
  feed_url: `${baseUrl}/feed.json`,
  language: "en",
  authors: [{ name: visible(product) }],
  items: entries.map(({ id, url, title, published, updated, html, advisories }) => ({
    id,
    url,
    title: visible(title),
    content_html: html,
    date_published: published,
    date_modified: updated,
    ...(advisories && { tags: ["security", ...advisories.map((each) => each.id)] }),
  })),
});
