import type { ReleaseDocument } from "../../pipeline/documents/site.ts";
import { bdi, escapeHtml, visible } from "../../pipeline/site/escape.ts";
import { answer, caching, contentSecurityPolicy, notFound, redirect } from "../http/answers.ts";
import type { ServerAnswer } from "../http/request.ts";
import { exchangeParts } from "./answered-page.ts";
import type { Exchange } from "./exchange.ts";
import { answerFile } from "./files.ts";
import { type CatalogSite, places } from "./site.ts";

/** `GET /api/v1/package/{id}/`: the record; browsers are redirected to the release's page. */
export async function readPackage(exchange: Exchange): Promise<ServerAnswer> {
  const { site, request, id, format, headers } = exchange;
  if (!isId(id)) return notFound(headers);
  if (format.as === "html") return pageOf(exchange);
  const cached = { ...headers, "Cache-Control": caching.public };
  return (
    (await answerFile(site, request, places.record(id), { headers: cached })) ??
    (await answerFile(site, request, places.gone(id), { status: 410, headers: cached })) ??
    notFound(headers)
  );
}

async function pageOf({ site, id, format, headers }: Exchange): Promise<ServerAnswer> {
  const record = await readJson<{ version: string }>(site, places.record(id));
  const cache = { "Cache-Control": format.by === "header" ? caching.none : caching.public };
  if (record)
    return redirect(302, `${site.base}/releases/${record.version}/#p${id}`, { ...headers, ...cache });
  const gone = await readJson<Gone>(site, places.gone(id));
  const shell = await site.read(places.notFound);
  if (!gone || !shell) return notFound(headers);
  const replacement = await replacementOf(site, gone);
  return answer(
    410,
    {
      ...headers,
      ...cache,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": contentSecurityPolicy,
    },
    withdrawnPage(new TextDecoder().decode(shell), gone, replacement),
  );
}

/** Link to the replacement on its release's page, as HTML; empty if there is none. */
async function replacementOf(site: CatalogSite, { replaced_by: id }: Gone): Promise<string> {
  const record =
    id === null
      ? undefined
      : await readJson<{ name: string; version: string }>(site, places.record(String(id)));
  if (!record) return "";
  const href = escapeHtml(`${site.base}/releases/${record.version}/#p${id}`);
  return `<a href="${href}">${bdi(visible(record.name))}</a> of ${escapeHtml(record.version)}`;
}

interface Gone {
  id: number;
  /** Absent in sites that an earlier version built. */
  name?: string;
  reason: string;
  replaced_by: number | null;
}

function withdrawnPage(shell: string, { id, name, reason }: Gone, replacement: string): string {
  const file = visible(name ?? `Package ${id}`);
  const instead = replacement === "" ? "There is no replacement." : `Use ${replacement} instead.`;
  const page = shell.replace(/<title>[^<·]*/, () => `<title>${escapeHtml(file)} was withdrawn `);
  const parts = { title: `${bdi(file)} was withdrawn`, message: `${escapeHtml(visible(reason))} ${instead}` };
  return exchangeParts(page, parts);
}

export async function download({ site, request, id, headers }: Exchange): Promise<ServerAnswer> {
  if (!isId(id)) return notFound(headers);
  const record = await readJson<{ version: string }>(site, places.record(id));
  if (record) {
    const url = await urlOf(site, record.version, Number(id));
    return url === undefined ? notFound(headers) : redirect(302, url, headers);
  }
  const gone = await answerFile(site, request, places.gone(id), { status: 410, headers });
  return gone ?? notFound(headers);
}

/** Download address of a listed record; undefined: not in its release document. */
export async function urlOf(site: CatalogSite, version: string, id: number): Promise<string | undefined> {
  const document = await readJson<ReleaseDocument>(site, places.release(version));
  return document?.artifacts[String(id)]?.url;
}

const isId = (id: string) => /^[1-9]\d{0,15}$/.test(id);

async function readJson<T>(site: CatalogSite, path: string): Promise<T | undefined> {
  const bytes = await site.read(path);
  return bytes && JSON.parse(new TextDecoder().decode(bytes));
}
