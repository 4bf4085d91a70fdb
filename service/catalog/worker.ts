import type { BuildDocument } from "../../pipeline/documents/site.ts";
import type { Row } from "../../pipeline/selection/record-index.ts";
import { type ServerAnswer, wholeBody } from "../http/request.ts";
import { catalogApp } from "./app.ts";
import type { CatalogRequest } from "./exchange.ts";
import { digestLength, listIn, readPackageList } from "./package-list.ts";
import { basePath, type CatalogSite, type PackageList, places } from "./site.ts";

interface Assets {
  fetch(address: string): Promise<Response>;
}

/** Size in bytes; reading a larger list exceeds an edge's time limit. */
const maxListBytes = 5_000_000;

/** Cached, because a deployment's files never change. */
const sites = new WeakMap<Assets, Promise<CatalogSite>>();

const app = catalogApp({ onError: (error) => console.error(error) });

export default {
  async fetch(request: Request, { ASSETS: assets }: { ASSETS: Assets }): Promise<Response> {
    const site = sites.get(assets) ?? readSite(assets);
    sites.set(assets, site);
    try {
      return await responseOf(await app(requestOf(request), await site));
    } catch (error) {
      sites.delete(assets);
      throw error;
    }
  },
};

function requestOf(request: Request): CatalogRequest {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    target: pathname + search,
    header: (name) => request.headers.get(name),
    read: () => Promise.reject(new Error("the edge does not accept posts")),
  };
}

/** Not a stream, because the platform sends no length for streams. */
async function responseOf(answer: ServerAnswer): Promise<Response> {
  const { status, headers } = answer;
  return new Response(await wholeBody(answer), { status, headers });
}

async function readSite(assets: Assets): Promise<CatalogSite> {
  const bytes = await readAsset(assets, "build.json");
  if (!bytes) throw new Error("the assets have no build.json");
  const build: BuildDocument = JSON.parse(new TextDecoder().decode(bytes));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  const id = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const files: BuildDocument["files"] = {
    ...build.files,
    "build.json": { sha256: id, size: bytes.length },
  };
  let whole: Promise<PackageList | undefined> | undefined;
  const site: CatalogSite = {
    build,
    id,
    files,
    base: basePath(build.base_url),
    // The platform compresses answers itself.
    read: async (path, encoding) =>
      encoding || !Object.hasOwn(files, path) ? undefined : readAsset(assets, path),
    list: () => {
      whole ??= readWhole(site).catch((error: unknown) => {
        whole = undefined;
        throw error;
      });
      return whole;
    },
    part: (query) => readPart(site, query),
  };
  return site;
}

async function readAsset(assets: Assets, path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const response = await assets.fetch(
    `https://assets.invalid/${path.split("/").map(encodeURIComponent).join("/")}`,
  );
  return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
}

async function readWhole(site: CatalogSite): Promise<PackageList | undefined> {
  const known = site.files[places.list];
  return known && known.size <= maxListBytes ? listIn(site, places.list) : undefined;
}

/** Instead of a large list, reads a smaller document: a release, a record, a package type. */
async function readPart(site: CatalogSite, query: URLSearchParams): Promise<PackageList | undefined> {
  const named = (parameter: string) => query.getAll(parameter).at(-1);
  const [version, id, type] = [named("version"), named("id"), named("package_type")];
  if (id !== undefined) return readRows(site, places.record(id), (record) => [record]);
  if (version !== undefined && version !== "latest") {
    return readRows(site, places.release(version), ({ packages }) => packages as Row[]);
  }
  if (type === undefined || !Object.hasOwn(site.files, places.list)) return undefined;
  const facet = `facets/type/${type}.json`;
  if (Object.hasOwn(site.files, facet)) return listIn(site, facet);
  // Facet files exist only with a host configuration; without them, the contents of a type are unknown.
  return Object.keys(site.files).some((path) => path.startsWith("facets/type/")) ? emptyList : undefined;
}

async function readRows(
  site: CatalogSite,
  path: string,
  rowsOf: (document: Row) => readonly Row[],
): Promise<PackageList | undefined> {
  const known = Object.hasOwn(site.files, path) ? site.files[path] : undefined;
  const bytes = known && (await site.read(path));
  if (!bytes) return emptyList;
  return listOf(rowsOf(JSON.parse(new TextDecoder().decode(bytes))), known.sha256);
}

const listOf = (rows: readonly Row[], digest: string): PackageList =>
  readPackageList(new TextEncoder().encode(JSON.stringify(rows)), digest.slice(0, digestLength));

const emptyList = listOf([], "0".repeat(64));
