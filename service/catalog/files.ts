import { extensionOf, isHashedAsset, mediaType } from "../../pipeline/documents/file-headers.ts";
import { answer, caching, contentSecurityPolicy, type Headers, isCurrent } from "../http/answers.ts";
import { acceptedEncodings } from "../http/negotiate.ts";
import type { ServerAnswer } from "../http/request.ts";
import type { CatalogRequest } from "./exchange.ts";
import type { CatalogSite } from "./site.ts";

/** Headers that depend only on the path. */
export function fileHeaders(path: string): Headers {
  return {
    "Content-Type": mediaType(path),
    "Cache-Control": isHashedAsset(path) ? caching.immutable : caching.public,
    Vary: "Accept-Encoding",
    ...(extensionOf(path) === "html" && { "Content-Security-Policy": contentSecurityPolicy }),
  };
}

export interface FileAnswer {
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

/** Bytes with a strong ETag, or 304. */
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
