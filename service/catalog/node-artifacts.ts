import { createReadStream, type Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { allHeaders, caching, type Headers, isCurrent, methodNotAllowed } from "../http/answers.ts";
import { send } from "../http/node-request.ts";
import { readPath } from "../http/path.ts";
import { requestedRange } from "../http/range.ts";
import { fileHeaders } from "./files.ts";

/** Artifacts of a published site. */
export interface ArtifactPlace {
  base: string;
  /** Real path of the folder behind `files/`; undefined: none. */
  artifacts: string | undefined;
}

interface Artifact {
  file: string;
  path: string;
  stats: Stats;
}

/** True for addresses of artifacts, which no build lists. */
export function namesArtifact({ base, artifacts }: ArtifactPlace, url: string): boolean {
  return artifacts !== undefined && pathOf(base, url) !== undefined;
}

const pathOf = (base: string, url: string): string | undefined => {
  const path = readPath(url, base);
  return path?.startsWith("/files/") && !path.endsWith("/") && !path.includes("/.")
    ? path.slice(1)
    : undefined;
};

/**
 * Sends an artifact or one range of it, never compressed: a sibling such as FILE.gz is another artifact.
 * @returns false if it does not exist, or is a link out of the artifacts' folder
 */
export async function sendArtifact(
  place: ArtifactPlace,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<boolean> {
  const artifact = await findArtifact(place, incoming.url ?? "");
  if (!artifact) return false;
  const { method = "GET" } = incoming;
  if (method !== "GET" && method !== "HEAD") {
    send(outgoing, methodNotAllowed(method, { Allow: "GET, HEAD" }));
    return true;
  }
  await sendFile(artifact, incoming, outgoing);
  return true;
}

async function findArtifact(
  { base, artifacts = "" }: ArtifactPlace,
  url: string,
): Promise<Artifact | undefined> {
  const path = pathOf(base, url);
  if (path === undefined) return undefined;
  try {
    // biome-ignore lint/plugin: the next line refuses paths that lead out, including links.
    const file = await realpath(join(artifacts, path.slice("files/".length)));
    if (!file.startsWith(`${artifacts}/`)) return undefined;
    const stats = await stat(file);
    return stats.isFile() ? { file, path, stats } : undefined;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(code)) return undefined;
    throw error;
  }
}

async function sendFile(
  { file, path, stats }: Artifact,
  { method, headers }: IncomingMessage,
  outgoing: ServerResponse,
) {
  const etag = `"${Math.floor(stats.mtimeMs).toString(16)}-${stats.size.toString(16)}"`;
  const { Vary: _, ...own } = fileHeaders(path);
  const common: Headers = {
    ...own,
    "Cache-Control": caching.artifact,
    ETag: etag,
    "Last-Modified": stats.mtime.toUTCString(),
    "Accept-Ranges": "bytes",
  };
  const known = headers["if-none-match"];
  if (known !== undefined && isCurrent(known, etag)) {
    const { "Content-Type": __, ...kept } = common;
    return void outgoing.writeHead(304, allHeaders(kept, undefined)).end();
  }
  const validators = [etag, common["Last-Modified"] ?? ""];
  const range = requestedRange(
    { range: headers.range, ifRange: headers["if-range"] },
    validators,
    stats.size,
  );
  if (range === "none") {
    const { "Content-Type": __, ...kept } = common;
    return void outgoing
      .writeHead(416, allHeaders({ ...kept, "Content-Range": `bytes */${stats.size}` }, 0))
      .end();
  }
  const { start, end } = range === "whole" ? { start: 0, end: stats.size - 1 } : range;
  const partial = range !== "whole" && { "Content-Range": `bytes ${start}-${end}/${stats.size}` };
  outgoing.writeHead(partial ? 206 : 200, allHeaders({ ...common, ...partial }, end - start + 1));
  if (method === "HEAD" || end < start) return void outgoing.end();
  // Destroys the connection on errors, so that the client notices the truncated file.
  await pipeline(createReadStream(file, { start, end }), outgoing).catch(() => outgoing.destroy());
}
