import { createReadStream, type Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import {
  allHeaders,
  caching,
  detail,
  type Headers,
  isCurrent,
  json,
  methodNotAllowed,
} from "../http/answers.ts";
import { hasSeveralHosts, readRequest, send } from "../http/node-request.ts";
import { type ListenOptions, type RequestEntry, startServer } from "../http/node-server.ts";
import { readPath } from "../http/path.ts";
import { requestedRange } from "../http/range.ts";
import type { ServerAnswer } from "../http/request.ts";
import { type CatalogApp, type CatalogAppOptions, catalogApp } from "./app.ts";
import { fileHeaders } from "./files.ts";
import { SiteUnfinished } from "./node-files.ts";
import { type FolderSite, type WatchedSite, watchSite } from "./node-watch.ts";

export { untilStopped } from "../http/node-server.ts";

export interface OriginOptions extends ListenOptions {
  folder: string;
  addManifest?: CatalogAppOptions["addManifest"];
  log: (entry: LogEntry) => void;
}

export type LogEntry = RequestEntry | { event: "build"; build: string } | { event: "error"; message: string };

export type Origin = Awaited<ReturnType<typeof startOrigin>>;

/** @throws ENOENT, SyntaxError, SiteUnfinished for the folder; EADDRINUSE, EACCES for the address */
export async function startOrigin(options: OriginOptions) {
  const { log } = options;
  const site = await watchSite(options.folder, (change) =>
    log(
      "build" in change
        ? { event: "build", build: change.build }
        : { event: "error", message: String(change.error) },
    ),
  );
  const app = catalogApp({
    addManifest: options.addManifest,
    onError: (error) => {
      if (error instanceof SiteUnfinished) throw error;
      log({
        event: "error",
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    },
  });
  const server = await startServer(options, (incoming, outgoing) => {
    respond(incoming, outgoing, app, site, options).catch((error) => {
      log({ event: "error", message: error instanceof Error ? error.message : String(error) });
      if (outgoing.headersSent) outgoing.destroy();
      else send(outgoing, detail(500, "The server failed."));
    });
  });
  return {
    url: server.url,
    build: () => site.current().id,
    refresh: site.refresh,
    /** Stops accepting requests, finishes the current ones, and aborts those that take longer than ten seconds. */
    close() {
      site.stop();
      return server.close();
    },
  };
}

async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  app: CatalogApp,
  site: WatchedSite,
  { host }: OriginOptions,
): Promise<void> {
  const served = site.current();
  const early = answerEarly(incoming, site);
  if (early) return send(outgoing, early);
  const artifact = await findArtifact(served, incoming.url ?? "");
  // For a missing artifact the site sends its usual 404.
  if (artifact) return sendArtifact(artifact, incoming, outgoing);
  const request = readRequest(incoming, host);
  if (!request) return send(outgoing, detail(400, "Bad request."));
  const answer = app(request, served).catch(async () => {
    // The files changed during the request: retries with the new build, or tells the client to retry.
    await site.refresh();
    const busy = () => detail(503, "A new build is being written.", { "Retry-After": "1" });
    return app(request, site.current()).catch(busy);
  });
  send(outgoing, await answer);
}

function answerEarly(incoming: IncomingMessage, site: WatchedSite): ServerAnswer | undefined {
  const { url = "/", method = "GET" } = incoming;
  if (hasSeveralHosts(incoming))
    return detail(400, "The request has more than one Host header.", { Connection: "close" });
  if (url === "/healthz") return json(200, { status: "ok", build: site.current().id });
  if (readPath(url, "") === "bad") return detail(400, "Bad request path.");
  if (!["TRACE", "CONNECT"].includes(method)) return undefined;
  return methodNotAllowed(method, { Allow: "GET, POST, HEAD, OPTIONS", Vary: "Accept" });
}

interface Artifact {
  file: string;
  path: string;
  stats: Stats;
}

/** The artifact at an address, which no build lists; undefined: none, or a link out of the artifacts' folder. */
async function findArtifact({ base, artifacts }: FolderSite, url: string): Promise<Artifact | undefined> {
  if (artifacts === undefined) return undefined;
  const path = readPath(url, base);
  if (!path?.startsWith("/files/") || path.endsWith("/") || path.includes("/.")) return undefined;
  try {
    // biome-ignore lint/plugin: the next line refuses paths that lead out, including links.
    const file = await realpath(join(artifacts, path.slice("/files/".length)));
    if (!file.startsWith(`${artifacts}/`)) return undefined;
    const stats = await stat(file);
    return stats.isFile() ? { file, path: path.slice(1), stats } : undefined;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(code)) return undefined;
    throw error;
  }
}

/** Sends an artifact or one range of it, never compressed: a sibling such as FILE.gz is another artifact. */
async function sendArtifact(
  { file, path, stats }: Artifact,
  { method = "GET", headers }: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const allow = { Allow: "GET, HEAD, OPTIONS" };
  if (method === "OPTIONS") return send(outgoing, detail(200, "A file.", allow));
  if (method !== "GET" && method !== "HEAD") return send(outgoing, methodNotAllowed(method, allow));
  const etag = `"${Math.floor(stats.mtimeMs).toString(16)}-${stats.size.toString(16)}"`;
  const { Vary: _, ...own } = fileHeaders(path);
  const common: Headers = {
    ...own,
    "Cache-Control": caching.artifact,
    ETag: etag,
    "Last-Modified": stats.mtime.toUTCString(),
    "Accept-Ranges": "bytes",
  };
  const [known, since] = [headers["if-none-match"], Date.parse(headers["if-modified-since"] ?? "")];
  const isUnchanged = Date.parse(common["Last-Modified"] ?? "") <= since;
  const { "Content-Type": __, ...kept } = common;
  if (known === undefined ? isUnchanged : isCurrent(known, etag))
    return void outgoing.writeHead(304, allHeaders(kept, undefined)).end();
  const validators = [etag, common["Last-Modified"] ?? ""];
  const range = requestedRange(
    { range: headers.range, ifRange: headers["if-range"] },
    validators,
    stats.size,
  );
  if (range === "none") {
    const refused = allHeaders({ ...kept, "Content-Range": `bytes */${stats.size}` }, 0);
    return void outgoing.writeHead(416, refused).end();
  }
  const { start, end } = range === "whole" ? { start: 0, end: stats.size - 1 } : range;
  const partial = range !== "whole" && { "Content-Range": `bytes ${start}-${end}/${stats.size}` };
  outgoing.writeHead(partial ? 206 : 200, allHeaders({ ...common, ...partial }, end - start + 1));
  if (method === "HEAD" || end < start) return void outgoing.end();
  // Destroys the connection on errors, so that the client notices the truncated file.
  await pipeline(createReadStream(file, { start, end }), outgoing).catch(() => outgoing.destroy());
}
