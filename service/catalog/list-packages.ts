import { canonicalQuery, type ListQuery, readListQuery } from "../../pipeline/selection/query.ts";
import { select } from "../../pipeline/selection/select.ts";
import { allHeaders, caching, contentSecurityPolicy, detail, type Headers, json } from "../http/answers.ts";
import { namedInHeader } from "../http/named.ts";
import type { ServerAnswer } from "../http/request.ts";
import { answeredPage } from "./answered-page.ts";
import { type Exchange, searchOf } from "./exchange.ts";
import { answerBytes, answerFile, underTag } from "./files.ts";
import { bytesOf, type PackageList, places } from "./site.ts";

export async function listPackages(exchange: Exchange): Promise<ServerAnswer> {
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
  return selectedJson(exchange, list, query, headers);
}

/** Longer answers are streamed, so that they are never complete in memory. */
const pieceSize = 64 * 1024;

async function selectedJson(
  { request }: Exchange,
  list: PackageList,
  query: ListQuery,
  ofList: Headers,
): Promise<ServerAnswer> {
  const positions = select(list.index, query);
  const length = list.texts.lengthOf(positions);
  const { status, headers } = underTag(request.header("if-none-match"), await tagOf(list, query), 200, {
    ...ofList,
    "Content-Type": "application/json",
    "Cache-Control": caching.public,
  });
  if (status === 304) return { status, headers: allHeaders(headers, undefined) };
  const body =
    length <= pieceSize ? bytesOf(list, positions) : streamOf(list.texts.pieces(positions, pieceSize));
  return { status, headers: allHeaders(headers, length), body };
}

/** A short query is part of the ETag unchanged, so that it needs no hash and cannot collide. */
const maxKeyLength = 200;

async function tagOf(list: PackageList, query: ListQuery): Promise<string> {
  const key = canonicalQuery(query);
  return `"${list.digest}-${key.length <= maxKeyLength ? key : await fingerprint(key)}"`;
}

const streamOf = (pieces: Iterator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      pull(controller) {
        const { done, value } = pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );

/** The prebuilt file for a query; undefined: the records must be selected. */
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
): Promise<ServerAnswer> {
  const { site, request } = exchange;
  const etag = await tagOf(list, query);
  const shell = await site.read(places.listPage);
  if (!shell) return detail(404, "Not found.", headers);
  const search = searchOf(request);
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

/** A cache that ignores Vary could serve a page chosen by `Accept` to an installer. */
const pageCaching = ({ format }: Exchange): Headers => ({
  "Cache-Control": format.by === "header" ? caching.none : caching.public,
});

/** Lists ignored parameters, for people who mistyped one. */
const ignored = ({ unknown }: ListQuery): Headers =>
  unknown.length > 0 ? { "X-Ignored-Parameters": namedInHeader(unknown) } : {};

export function unknownParameters({ unknown }: ListQuery, headers: Headers): ServerAnswer {
  const names = unknown.slice(0, 20).map((name) => name.slice(0, 64));
  const body = { detail: `Unknown parameters: ${names.join(", ")}.`, parameters: names };
  return json(400, body, headers);
}

const tooLarge = (headers: Headers): ServerAnswer =>
  detail(501, "The list is too large to be filtered here: name a version, an id or a package_type.", headers);

/** 16 hexadecimal characters of the SHA-256 of a text. */
async function fingerprint(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest, 0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
