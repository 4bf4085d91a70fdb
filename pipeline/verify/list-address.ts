import { difference } from "./files.ts";
import type { Finding, Listed } from "./finding.ts";
import type { Answer, SiteReader } from "./stores/site-reader.ts";

/** Installers request the list here, and browsers a page of it. */
const path = "api/v1/package/";
/** The file with the list's bytes. */
const listFile = "api/v1/package/index.json";
/** A list page is small; longer answers are not read. */
const maxPageBytes = 16 * 1024 * 1024;

/**
 * Requests the list as an installer and as a browser. Content negotiation is optional, but installers must
 * not get a page, not even from a cache.
 */
export async function listAddressFindings(site: SiteReader, listed: Listed): Promise<Finding[]> {
  const known = listed[listFile];
  if (!site.isRemote || !known) return [];
  const limit = Math.max(known.size, maxPageBytes) + 1;
  const json = await site.read(path, limit, { accept: "application/json" });
  const html = await site.read(path, limit, { accept: "text/html" });
  return [...jsonFindings(json, known), ...htmlFindings(html, known)];
}

const isHtml = ({ headers }: Answer): boolean => /^text\/html\b/i.test(headers["content-type"] ?? "");

function jsonFindings(answer: Answer, known: Listed[string]): Finding[] {
  if (answer.status !== 200) return [];
  if (isHtml(answer)) return [{ path, what: "answers with a page where JSON was asked for" }];
  const other = difference(answer, known);
  return other === undefined ? [] : [{ path, what: "is not the signed list", instead: other }];
}

function htmlFindings(answer: Answer, known: Listed[string]): Finding[] {
  if (answer.status !== 200) return [];
  if (isHtml(answer)) {
    const caching = answer.headers["cache-control"] ?? "";
    if (/(^|[\s,])no-store([\s,]|$)/i.test(caching)) return [];
    const shown = caching === "" ? "no Cache-Control" : `Cache-Control: ${caching}`;
    const what = `has a page with ${shown}, expected no-store: caches may give it to installers`;
    return [{ path, what, served: true }];
  }
  const other = difference(answer, known);
  return other === undefined ? [] : [{ path, what: "is not the signed list for browsers", instead: other }];
}
