import { Hono } from "hono";
import {
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
import { allowOf, operationOf, type Route } from "../http/routes.ts";
import { type Exchange, negotiateFormat } from "./exchange.ts";
import { indented, withoutEncoding } from "./indented.ts";
import { latestPackage } from "./latest-package.ts";
import { listPackages } from "./list-packages.ts";
import { download, readPackage } from "./read-package.ts";
import { type CatalogOperation, catalogRoutes } from "./routes.ts";
import type { CatalogSite } from "./site.ts";
import { answerStatic } from "./static.ts";

type Operation = (exchange: Exchange) => Response | Promise<Response>;

export interface CatalogAppOptions {
  /** Takes manifests in; without it POST is not allowed here, although the address knows it. */
  addManifest?: Operation | undefined;
  /** Hears of what went wrong inside; the client only hears that something did. */
  onError?: (error: unknown) => void;
}

/** Answers requests from the site it is given with each: a Web-standard handler, at home on servers and at the edge. */
export type CatalogApp = (request: Request, site: CatalogSite) => Promise<Response>;

interface Bindings {
  site: CatalogSite;
  path: string;
}

/**
 * The catalog over HTTP: the API's routes, and every file of the site.
 * @returns answers without their bodies, which `bodyOf` and `withBody` give; what goes wrong inside is a 500
 */
export function catalogApp({ addManifest, onError = () => {} }: CatalogAppOptions = {}): CatalogApp {
  const operations: Record<CatalogOperation, Operation | undefined> = {
    readRoot,
    listPackages,
    latestPackage,
    readPackage,
    download,
    addManifest,
  };
  const app = new Hono<{ Bindings: Bindings }>({ getPath: (_request, options) => options?.env?.path ?? "/" });
  for (const route of catalogRoutes) {
    app.all(route.path, ({ req, env }) =>
      answerRoute(route, operations, req.raw, env.site, req.param("id") ?? ""),
    );
    app.all(route.path.slice(0, -1), ({ req, env }) =>
      isFile(env) ? answerStatic(env.site, req.raw, env.path) : withSlash(req.raw, env.site),
    );
  }
  app.all("*", ({ req, env }) => answerStatic(env.site, req.raw, env.path));
  app.onError((error) => {
    onError(error);
    return detail(500, "Something went wrong here.");
  });
  return async (request, site) => {
    const { pathname, search } = new URL(request.url);
    const path = readPath(pathname + search, site.base);
    if (path === "bad") return detail(400, "Bad request path.");
    if (path === undefined) return notFound();
    if (path === "") return redirect(301, `${site.base}/${search}`);
    return marked(await app.fetch(request, { site, path }), site);
  };
}

async function answerRoute(
  route: Route<CatalogOperation>,
  operations: Record<CatalogOperation, Operation | undefined>,
  request: Request,
  site: CatalogSite,
  id: string,
): Promise<Response> {
  const headers = headersOf(route);
  const parameters = new URL(request.url).searchParams;
  const format = negotiateFormat(request, parameters);
  if (format === "unknown-format") return notFound(headers);
  if (format === "not-acceptable") return notAcceptable(headers);
  if (request.method === "OPTIONS") return json(200, description(route), headers);
  const name = operationOf(route, request.method);
  const operation = name && operations[name];
  if (!operation) return methodNotAllowed(request.method, headers);
  const indent = format.as === "json" ? indentOf(request.headers.get("accept")) : 0;
  const exchange = { site, parameters, id, format, headers };
  if (indent === 0) return operation({ ...exchange, request });
  return indented(await operation({ ...exchange, request: withoutEncoding(request) }), indent, request);
}

/** What every answer of a route says. */
export const headersOf = (route: Route<CatalogOperation>): Headers => ({
  Allow: allowOf(route),
  Vary: "Accept, Accept-Encoding",
});

const description = ({ name, description: text }: Route<CatalogOperation>) => ({
  name,
  description: text,
  renders: ["application/json", "text/html"],
  parses: ["application/json"],
});

function readRoot({ site, headers }: Exchange): Response {
  return json(
    200,
    { package: `${site.build.base_url}/api/v1/package/` },
    { ...headers, "Cache-Control": caching.public },
  );
}

/** The list and its pages lie as files where ids are. */
const isFile = ({ site, path }: Bindings): boolean => Object.hasOwn(site.files, path.slice(1));

/** Only reading may be repeated as GET elsewhere; a body must not get lost on the way. */
function withSlash(request: Request, site: CatalogSite): Response {
  const { pathname, search } = new URL(request.url);
  const isRead = ["GET", "HEAD"].includes(request.method);
  return redirect(isRead ? 301 : 308, `${pathname.startsWith(site.base) ? pathname : site.base}/${search}`);
}

const mostNamed = 20;

function marked(response: Response, site: CatalogSite): Response {
  for (const [name, value] of Object.entries(provisionalHeaders(site))) response.headers.set(name, value);
  return response;
}

/** Names what may still change; a list of everything is no header. */
export function provisionalHeaders({ build: { provisional } }: CatalogSite): Headers {
  if (provisional.length === 0) return {};
  const more = provisional.length > mostNamed ? [`and ${provisional.length - mostNamed} more`] : [];
  return { "X-Relcat-Provisional": [...provisional.slice(-mostNamed), ...more].join(", ") };
}
