import { securityHeaders } from "../../pipeline/documents/api-answers.ts";
import { cacheControl } from "../../pipeline/documents/file-headers.ts";
import type { ServerAnswer } from "./request.ts";

export {
  contentPolicies,
  contentSecurityPolicy,
} from "../../pipeline/documents/pages/content-security-policy.ts";

export const caching = cacheControl;

export type Headers = Record<string, string>;

/** An answer with Content-Length, for both GET and HEAD. */
export function answer(status: number, headers: Headers, body: string | Uint8Array | null): ServerAnswer {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : (body ?? undefined);
  return { status, headers: allHeaders(headers, bytes?.length), body: bytes };
}

/** @param length of the body; undefined: no body */
export const allHeaders = (headers: Headers, length: number | undefined): Headers => ({
  ...securityHeaders,
  ...(length !== undefined && { "Content-Length": String(length) }),
  ...headers,
});

/** A JSON answer; not cacheable unless `headers` allow it. */
export const json = (status: number, value: unknown, headers: Headers = {}): ServerAnswer =>
  answer(
    status,
    { "Content-Type": "application/json", "Cache-Control": caching.none, ...headers },
    JSON.stringify(value),
  );

/** An error in the format of the framework that existing API clients expect. */
export const detail = (status: number, text: string, headers: Headers = {}): ServerAnswer =>
  json(status, { detail: text }, headers);

export const notFound = (headers: Headers = {}): ServerAnswer => detail(404, "Not found.", headers);

export const notAcceptable = (headers: Headers = {}): ServerAnswer =>
  detail(406, "Could not satisfy the request Accept header.", headers);

export const methodNotAllowed = (method: string, headers: Headers): ServerAnswer =>
  detail(405, `Method "${method}" not allowed.`, headers);

export const redirect = (status: 301 | 302 | 308, location: string, headers: Headers = {}): ServerAnswer =>
  answer(status, { Location: location, "Cache-Control": caching.public, ...headers }, "");

/** True if the client's cached copy is current (RFC 9110, 13.1.2). */
export function isCurrent(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
