import { canonicalQuery, type ListQuery, readListQuery } from "../../pipeline/selection/query.ts";
import { answer, caching, contentSecurityPolicy, detail, type Headers, json } from "../http/answers.ts";
import { namedInHeader } from "../http/named.ts";
import { indentOf } from "../http/negotiate.ts";
import { answeredPage } from "./answered-page.ts";
import { chooseFormat, type Exchange } from "./exchange.ts";
import { answerBytes, answerFile, underTag } from "./files.ts";
import { fingerprint, selectList } from "./selected.ts";
import { bytesOf, type PackageList, places } from "./site.ts";

/** `GET /api/v1/package/`: the list, selected and ordered as asked (source: section 4.1). */
export async function listPackages(exchange: Exchange): Promise<Response> {
  const query = readListQuery(exchange.parameters);
  if (query.strict && query.unknown.length > 0) return unknownParameters(query, exchange.headers);
  const headers = { ...exchange.headers, ...ignored(query) };
  const page = exchange.format.as === "html";
  const file = page ? pageFileOf(query) : fileOf(query);
  if (file) {
    const whole = await answerFile(exchange.site, exchange.request, file, {
      headers: page ? { ...headers, ...pageCaching(exchange) } : headers,
      onlyEncoded: file === places.newestFirst && exchange.site.packages !== undefined,
    });
    if (whole) return whole;
  }
  const list = (await exchange.site.list()) ?? (await exchange.site.part?.(exchange.parameters));
  if (!list) return tooLarge(headers);
  if (page) return selectedPage(exchange, list, query, headers);
  const asked = exchange.request.headers.get("if-none-match");
  const selected = await describeSelection(list, query, asked, exchange.headers);
  return answer(selected.status, selected.headers, selected.positions && bytesOf(list, selected.positions));
}

/**
 * The query of a request whose answer is the JSON of a selection; undefined for every other request.
 * @param isFile whether this list is answered by its file
 */
export function selectionAsked(
  parameters: Iterable<[string, string]>,
  accept: string | null,
  isFile: (path: string) => boolean,
): ListQuery | undefined {
  const query = readListQuery(parameters);
  const format = chooseFormat(query.format, accept);
  if (typeof format === "string" || format.as !== "json" || indentOf(accept) > 0) return undefined;
  if (query.strict && query.unknown.length > 0) return undefined;
  const file = fileOf(query);
  return file !== undefined && isFile(file) ? undefined : query;
}

/** The JSON of a selection without its bytes. */
export interface DescribedSelection {
  status: number;
  headers: Headers;
  /** The records to be sent; null: the client has them. */
  positions: readonly number[] | null;
  length: number;
}

export async function describeSelection(
  list: PackageList,
  query: ListQuery,
  ifNoneMatch: string | null,
  ofRoute: Headers,
): Promise<DescribedSelection> {
  const { positions, length, etag } = await selectList(list, query);
  const { status, headers } = underTag(ifNoneMatch, etag, 200, {
    ...ofRoute,
    ...ignored(query),
    "Content-Type": "application/json",
    "Cache-Control": caching.public,
  });
  return { status, headers, positions: status === 304 ? null : positions, length };
}

/** The file that holds what a query selects; undefined: it must be selected. */
function fileOf(query: ListQuery): string | undefined {
  if (query.filters.length > 0) return undefined;
  const key = canonicalQuery(query);
  return key === "" ? places.list : key === "ordering=-id" ? places.newestFirst : undefined;
}

const pageFileOf = (query: ListQuery) => (canonicalQuery(query) === "" ? places.listPage : undefined);

async function selectedPage(
  exchange: Exchange,
  list: PackageList,
  query: ListQuery,
  headers: Headers,
): Promise<Response> {
  const { site, request } = exchange;
  const { etag } = await selectList(list, query);
  const shell = await site.read(places.listPage);
  if (!shell) return detail(404, "Not found.", headers);
  const search = new URL(request.url).search;
  const html = answeredPage(new TextDecoder().decode(shell), site.base, search, list, query);
  return answerBytes(
    request,
    new TextEncoder().encode(html),
    `${etag.slice(0, -1)}-page-${await fingerprint(site.id + search)}"`,
    200,
    {
      ...headers,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": contentSecurityPolicy,
      ...pageCaching(exchange),
    },
  );
}

/** A cache that ignores Vary could hand a page that `Accept` chose to an installer. */
const pageCaching = ({ format }: Exchange): Headers => ({
  "Cache-Control": format.by === "header" ? caching.none : caching.public,
});

/** Names of parameters that changed nothing, for people who mistyped one. */
const ignored = ({ unknown }: ListQuery): Headers =>
  unknown.length > 0 ? { "X-Ignored-Parameters": namedInHeader(unknown) } : {};

export function unknownParameters({ unknown }: ListQuery, headers: Headers): Response {
  const names = unknown.slice(0, 20).map((name) => name.slice(0, 64));
  const body = { detail: `Unknown parameters: ${names.join(", ")}.`, parameters: names };
  return json(400, body, headers);
}

const tooLarge = (headers: Headers): Response =>
  detail(501, "The list is too large to be filtered here: name a version, an id or a package_type.", headers);
