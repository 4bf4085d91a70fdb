import { optionsOf } from "../../pipeline/documents/api-answers.ts";
import {
  answer,
  caching,
  detail,
  type Headers,
  json,
  methodNotAllowed,
  notAcceptable,
  notFound,
  redirect,
} from "../http/answers.ts";
import { indentOf } from "../http/negotiate.ts";
import { readPath } from "../http/path.ts";
import { queryOf, type ServerAnswer, wholeBody } from "../http/request.ts";
import { allowOf, operationOf, type Route, routerOf } from "../http/router.ts";
import { type CatalogRequest, type Exchange, negotiateFormat, searchOf } from "./exchange.ts";
import { answerBytes, answerFile } from "./files.ts";
import { latestPackage } from "./latest-package.ts";
import { listPackages } from "./list-packages.ts";
import { download, readPackage } from "./read-package.ts";
import { type CatalogOperation, catalogRoutes } from "./routes.ts";
import { type CatalogSite, places } from "./site.ts";

/** Files of the site outside the API's routes: pages, documents, assets. */
async function answerStatic(site: CatalogSite, request: CatalogRequest, path: string): Promise<ServerAnswer> {
  const inside = path.replace(/^\//, "");
  if (/^hosting(\/|$)/.test(inside)) return missing(site, request, inside);
  const file = fileOf(site, inside);
  const found = file ?? folderOf(site, inside);
  if (found === undefined) return missing(site, request, inside);
  const isRead = ["GET", "HEAD"].includes(request.method);
  if (file === undefined) return redirect(isRead ? 301 : 308, `${site.base}/${inside}/${searchOf(request)}`);
  if (request.method === "OPTIONS") return detail(200, "A file.", { Allow: "GET, HEAD, OPTIONS" });
  if (!isRead) return methodNotAllowed(request.method, { Allow: "GET, HEAD, OPTIONS" });
  return (await answerFile(site, request, file)) ?? missing(site, request, inside);
}

const has = (site: CatalogSite, path: string) => Object.hasOwn(site.files, path);

/** A folder's page, else its JSON document. */
function fileOf(site: CatalogSite, path: string): string | undefined {
  if (path !== "" && !path.endsWith("/")) return has(site, path) ? path : undefined;
  return [`${path}index.html`, `${path}index.json`].find((name) => has(site, name));
}

const folderOf = (site: CatalogSite, path: string) => fileOf(site, `${path}/`);

async function missing(site: CatalogSite, request: CatalogRequest, path: string): Promise<ServerAnswer> {
  if (path === "api" || path.startsWith("api/")) return notFound();
  const headers = { "Cache-Control": caching.none };
  return (await answerFile(site, request, places.notFound, { status: 404, headers })) ?? notFound();
}

const hidden = ["accept-encoding", "if-none-match"];

/** The bytes to be reformatted must be uncompressed and complete. */
const withoutEncoding = (request: CatalogRequest): CatalogRequest => ({
  ...request,
  header: (name) => (hidden.includes(name) ? null : request.header(name)),
});

/** The same JSON with indentation, under a different ETag. */
async function indented(given: ServerAnswer, indent: number, request: CatalogRequest): Promise<ServerAnswer> {
  if (given.headers["Content-Type"] !== "application/json") return given;
  const bytes = await wholeBody(given);
  if (!bytes) return given;
  const text = JSON.stringify(JSON.parse(new TextDecoder().decode(bytes)), null, indent);
  const { "Content-Length": _, ETag: etag, ...headers } = given.headers;
  if (etag === undefined) return answer(given.status, headers, text);
  const tag = `${etag.slice(0, -1)}-indent-${indent}"`;
  return answerBytes(request, new TextEncoder().encode(text), tag, given.status, headers);
}

type Operation = (exchange: Exchange) => ServerAnswer | Promise<ServerAnswer>;

export interface CatalogAppOptions {
  /** Stores posted manifests; without it, POST is not allowed here. */
  addManifest?: Operation | undefined;
  /** Receives internal errors, whose details clients do not see. */
  onError?: (error: unknown) => void;
}

/** Answers requests from the given site, on servers and at the edge. */
export type CatalogApp = (request: CatalogRequest, site: CatalogSite) => Promise<ServerAnswer>;

type Operations = Record<CatalogOperation, Operation | undefined>;

const routeAt = routerOf(catalogRoutes);

/** @returns an app that answers 500 for internal errors */
export function catalogApp({ addManifest, onError = () => {} }: CatalogAppOptions = {}): CatalogApp {
  const operations = { readRoot, listPackages, latestPackage, readPackage, download, addManifest };
  return async (request, site) => {
    const path = readPath(request.target, site.base);
    if (path === "bad") return detail(400, "Bad request path.");
    if (path === undefined) return notFound();
    if (path === "") return redirect(301, `${site.base}/${searchOf(request)}`);
    try {
      const found = routeAt(path);
      // The list and its pages are files whose paths match the route of an id.
      if (!found || Object.hasOwn(site.files, path.slice(1)))
        return marked(await answerStatic(site, request, path), site);
      if (!path.endsWith("/")) return marked(withSlash(request, site), site);
      const { route, params } = found;
      return marked(await answerRoute(route, operations, request, site, params.id ?? ""), site);
    } catch (error) {
      onError(error);
      return marked(detail(500, "The server failed."), site);
    }
  };
}

async function answerRoute(
  route: Route<CatalogOperation>,
  operations: Operations,
  request: CatalogRequest,
  site: CatalogSite,
  id: string,
): Promise<ServerAnswer> {
  const headers = headersOf(route);
  const parameters = queryOf(request);
  const format = negotiateFormat(request, parameters);
  if (format === "unknown-format") return notFound(headers);
  if (format === "not-acceptable") return notAcceptable(headers);
  if (request.method === "OPTIONS") return json(200, optionsOf(route), headers);
  const name = operationOf(route, request.method);
  const operation = name && operations[name];
  if (!operation) return methodNotAllowed(request.method, headers);
  const indent = format.as === "json" ? indentOf(request.header("accept")) : 0;
  const exchange = { site, parameters, id, format, headers };
  if (indent === 0) return operation({ ...exchange, request });
  return indented(await operation({ ...exchange, request: withoutEncoding(request) }), indent, request);
}

const headersOf = (route: Route<CatalogOperation>): Headers => ({
  Allow: allowOf(route),
  Vary: "Accept, Accept-Encoding",
});

function readRoot({ site, headers }: Exchange): ServerAnswer {
  return json(
    200,
    { package: `${site.build.base_url}/api/v1/package/` },
    { ...headers, "Cache-Control": caching.public },
  );
}

/** Only GET and HEAD may be redirected, because a redirect would lose a body. */
function withSlash(request: CatalogRequest, site: CatalogSite): ServerAnswer {
  const { pathname, search } = new URL(request.target, "http://localhost");
  const isRead = ["GET", "HEAD"].includes(request.method);
  return redirect(isRead ? 301 : 308, `${pathname.startsWith(site.base) ? pathname : site.base}/${search}`);
}

const maxNamed = 20;

const marked = (given: ServerAnswer, site: CatalogSite): ServerAnswer => ({
  ...given,
  headers: { ...given.headers, ...provisionalHeaders(site) },
});

/** Names provisional releases; omitted if everything is provisional. */
function provisionalHeaders({ build: { provisional } }: CatalogSite): Headers {
  if (provisional.length === 0) return {};
  const more = provisional.length > maxNamed ? [`and ${provisional.length - maxNamed} more`] : [];
  return { "X-Relcat-Provisional": [...provisional.slice(-maxNamed), ...more].join(", ") };
}
