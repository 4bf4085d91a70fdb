import { caching, detail, methodNotAllowed, notFound, redirect } from "../http/answers.ts";
import type { ServerAnswer } from "../http/request.ts";
import { type CatalogRequest, searchOf } from "./exchange.ts";
import { answerFile } from "./files.ts";
import { type CatalogSite, places } from "./site.ts";

/** Files of the site outside the API's routes: pages, documents, assets. */
export async function answerStatic(
  site: CatalogSite,
  request: CatalogRequest,
  path: string,
): Promise<ServerAnswer> {
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
