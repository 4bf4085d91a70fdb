import { feedPath } from "../../pipeline/documents/feeds/paths.ts";
import { cachingOf, extensionOf, mediaType, registryHeaders } from "../../pipeline/documents/file-headers.ts";
import { answer, contentPolicies, type Headers, isCurrent } from "../http/answers.ts";
import { acceptedEncodings } from "../http/negotiate.ts";
import { requestedRange } from "../http/range.ts";
import type { ServerAnswer } from "../http/request.ts";
import type { CatalogRequest } from "./exchange.ts";
import type { CatalogSite } from "./site.ts";

const policies = new Map<string, string>(Object.entries(contentPolicies));

export function fileHeaders(path: string): Headers {
  const policy = policies.get(extensionOf(path));
  return {
    "Content-Type": mediaType(path),
    "Cache-Control": cachingOf(path),
    Vary: "Accept-Encoding",
    ...(policy && { "Content-Security-Policy": policy }),
  };
}

interface FileAnswer {
  status?: number;
  headers?: Headers;
  /** Do not fall back to the uncompressed bytes. */
  onlyEncoded?: boolean;
}

/** A file of the build in the client's preferred encoding; undefined: not in the build. */
export async function answerFile(
  site: CatalogSite,
  request: CatalogRequest,
  path: string,
  { status = 200, headers = {}, onlyEncoded = false }: FileAnswer = {},
): Promise<ServerAnswer | undefined> {
  const known = Object.hasOwn(site.files, path) ? site.files[path] : undefined;
  if (!known) return undefined;
  if (feedPath(path)) return answerFeedFile(site, request, path, known.sha256);
  const tag = known.sha256.slice(0, 32);
  const own = { ...fileHeaders(path), ...headers };
  for (const encoding of acceptedEncodings(request.header("accept-encoding"))) {
    const bytes = await site.read(path, encoding);
    if (!bytes) continue;
    return answerBytes(request, bytes, `"${tag}-${encoding}"`, status, {
      ...own,
      "Content-Encoding": encoding,
    });
  }
  const bytes = onlyEncoded ? undefined : await site.read(path);
  return bytes && answerBytes(request, bytes, `"${tag}"`, status, own);
}

/** An index is sent as it is, whole or in part. */
async function answerFeedFile(
  site: CatalogSite,
  request: CatalogRequest,
  path: string,
  sha256: string,
): Promise<ServerAnswer | undefined> {
  const bytes = await site.read(path);
  if (!bytes) return undefined;
  const etag = `"${sha256.slice(0, 32)}"`;
  const { Vary: _, ...own } = fileHeaders(path);
  const headers = { ...own, ...registryHeaders(path, sha256), "Accept-Ranges": "bytes" };
  const asked = { range: request.header("range"), ifRange: request.header("if-range") };
  const range = isCurrent(request.header("if-none-match"), etag)
    ? "whole"
    : requestedRange(asked, [etag], bytes.length);
  if (range === "whole") return answerBytes(request, bytes, etag, 200, headers);
  if (range === "none")
    return answer(416, { ...headers, ETag: etag, "Content-Range": `bytes */${bytes.length}` }, "");
  const part = `bytes ${range.start}-${range.end}/${bytes.length}`;
  const partial = { ...headers, ETag: etag, "Content-Range": part };
  return answer(206, partial, bytes.subarray(range.start, range.end + 1));
}

export function answerBytes(
  request: CatalogRequest,
  bytes: Uint8Array,
  etag: string,
  status: number,
  headers: Headers,
): ServerAnswer {
  const tagged = underTag(request.header("if-none-match"), etag, status, headers);
  return answer(tagged.status, tagged.headers, tagged.status === 304 ? null : bytes);
}

/** Turns an answer with a strong ETag into a 304 if the client has it already. */
export function underTag(
  ifNoneMatch: string | null,
  etag: string,
  status: number,
  headers: Headers,
): { status: number; headers: Headers } {
  const tagged: Headers = { ...headers, ETag: etag };
  if (status !== 200 || !isCurrent(ifNoneMatch, etag)) return { status, headers: tagged };
  const { "Content-Type": _, "Content-Encoding": __, ...kept } = tagged;
  return { status: 304, headers: kept };
}
