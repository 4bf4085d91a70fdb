import { searchPaths } from "../../pipeline/documents/pages/search-paths.ts";
import { bdi, escapeHtml } from "../../pipeline/site/escape.ts";
import type { ServerAnswer } from "../http/request.ts";
import { exchangeParts } from "./answered-page.ts";
import { type CatalogRequest, searchOf } from "./exchange.ts";
import { answerBytes, fileHeaders } from "./files.ts";
import { fingerprint } from "./fingerprint.ts";
import type { CatalogSite } from "./site.ts";

interface FoundFile {
  version: string;
  id: number;
  name: string;
  isWithdrawn: boolean;
}

/** The index as the build writes it; see search-index.ts. */
interface Directory {
  /** With the name of the file, if the record has another one. */
  names: string[];
  releases: [version: string, listed: number[], withdrawn?: number[]][];
  notes: string[];
}

/** Results of a kind on the page; the script of the page has the same limit. */
const mostShown = 50;
/** Characters of notes that a search reads. */
const mostNotes = 300_000;

/**
 * The search page with the results of its query, for browsers without JavaScript. With it, templates/search.js writes
 * the same.
 * @returns undefined without a query, or if the site has no index
 */
export async function searchPage(
  site: CatalogSite,
  request: CatalogRequest,
): Promise<ServerAnswer | undefined> {
  const search = searchOf(request);
  const query = (new URLSearchParams(search).get("q") ?? "").trim().slice(0, 200);
  const shell = query === "" ? undefined : await site.read(searchPaths.page);
  if (!shell) return undefined;
  const page = new TextDecoder().decode(shell);
  const html = exchangeParts(page, { results: await resultsOf(site, query, page) }).replace(
    ' name="q"',
    () => ` name="q" value="${escapeHtml(query)}"`,
  );
  const etag = `"${await fingerprint(site.id + search)}"`;
  return answerBytes(request, new TextEncoder().encode(html), etag, 200, fileHeaders(searchPaths.page));
}

async function resultsOf(site: CatalogSite, query: string, page: string): Promise<string> {
  const checksum = checksumIn(query.toLowerCase());
  if (!checksum) return wordResults(site, query);
  const digits = Number(/data-digits="(\d)"/.exec(page)?.[1] ?? 0);
  const found = await filesWithChecksum(site, checksum, digits);
  const isWhole = checksum.length === 64;
  if (found.length === 0 && !isWhole) return wordResults(site, query);
  return checksumMessage(found, isWhole) + section("Files", found.map(fileItem));
}

/** A whole SHA-256, also in a line as sha256sum prints it, or the beginning of one. */
const checksumIn = (query: string): string | undefined =>
  (/(?:^|[^0-9a-f])([0-9a-f]{64})(?![0-9a-f])/.exec(query) ?? /^([0-9a-f]{8,63})$/.exec(query))?.[1];

async function filesWithChecksum(site: CatalogSite, checksum: string, digits: number): Promise<FoundFile[]> {
  const path = searchPaths.hashes(checksum.slice(0, digits));
  const { files } = await json<{ files: [string, string, number, string, 0 | 1][] }>(site, path);
  return files
    .filter(([each]) => each.startsWith(checksum))
    .map(([, version, id, name, withdrawn]) => ({ version, id, name, isWithdrawn: withdrawn === 1 }));
}

function checksumMessage(found: readonly FoundFile[], isWhole: boolean): string {
  const danger = (text: string) => `<p class="banner danger">${text}</p>\n`;
  if (found.length === 0)
    return danger("No file of ours has this SHA-256: neither a released nor a withdrawn one. Do not use it.");
  if (!isWhole) return `<p class="lead">Files whose SHA-256 begins with these digits:</p>\n`;
  if (found.some(({ isWithdrawn }) => isWithdrawn))
    return danger(
      "This file was withdrawn: do not use it. The release&#39;s page has the reason and the replacement.",
    );
  return `<p class="lead">This file is ours and was not withdrawn.</p>\n`;
}

async function wordResults(site: CatalogSite, query: string): Promise<string> {
  const words = query.toLowerCase().split(/\s+/);
  const matches = (text: string) => words.every((word) => text.includes(word));
  const index = await json<Directory>(site, searchPaths.index);
  const releases = index.releases.filter(([version]) => matches(version));
  const files = [...filesOf(index)].filter(({ version, name }) =>
    matches(`${name} ${version}`.toLowerCase()),
  );
  const { items: notes, isComplete } = await notesResults(site, index.notes, matches);
  const results =
    section(
      "Releases",
      releases.map(([version]) => `<li>${releaseLink(version)}</li>`),
    ) +
    section("Files", files.map(fileItem)) +
    section("Notes", notes);
  if (results !== "") return results;
  const soFar = isComplete ? "" : " in the newest releases";
  return `<p class="muted">Nothing was found for \u201C${bdi(query)}\u201D${soFar}.</p>\n`;
}

/** Files of the index: a name, and the difference of its id from the previous one. */
function* filesOf({ names, releases }: Directory): Generator<FoundFile> {
  let id = 0;
  for (const [version, listed, withdrawn = []] of releases) {
    for (const packed of [listed, withdrawn]) {
      for (let at = 0; at < packed.length; at += 2) {
        id += packed[at + 1] ?? 0;
        const name = (names[packed[at] ?? 0] ?? "").replaceAll("\0", version);
        yield { version, id, name, isWithdrawn: packed === withdrawn };
      }
    }
  }
}

/** Notes from the newest month back. */
async function notesResults(site: CatalogSite, parts: readonly string[], matches: (text: string) => boolean) {
  const items: string[] = [];
  let read = 0;
  for (const part of parts) {
    if (read > mostNotes) return { items, isComplete: false };
    const { releases } = await json<{ releases: [string, string[]][] }>(site, searchPaths.notes(part));
    for (const [version, texts] of releases) {
      read += texts.reduce((sum, text) => sum + text.length, 0);
      for (const text of texts.filter((each) => matches(each.toLowerCase())))
        items.push(`<li>${releaseLink(version)}: ${bdi(text)}</li>`);
    }
  }
  return { items, isComplete: true };
}

const releaseLink = (version: string): string =>
  `<a href="../releases/${escapeHtml(version)}/" class="version">${escapeHtml(version)}</a>`;

const fileItem = ({ version, id, name, isWithdrawn }: FoundFile): string =>
  `<li><a href="../releases/${escapeHtml(version)}/#p${id}">${bdi(name)}</a> of ${releaseLink(version)}` +
  `${isWithdrawn ? ' <span class="tag danger">withdrawn</span>' : ""}</li>`;

function section(title: string, items: readonly string[]): string {
  if (items.length === 0) return "";
  const more = items.length - mostShown;
  const rest = more > 0 ? `<p class="muted">${more} more: add a word.</p>\n` : "";
  const shown = items.slice(0, mostShown).join("\n");
  return `<section><h2>${title}</h2>\n<ul class="found">\n${shown}\n</ul>\n${rest}</section>\n`;
}

/** @throws Error if the site lacks the file or it is not JSON; the request then gets a 500 */
async function json<T>(site: CatalogSite, path: string): Promise<T> {
  const bytes = await site.read(path);
  if (!bytes) throw new Error(`the site has no ${path}`);
  return JSON.parse(new TextDecoder().decode(bytes));
}
