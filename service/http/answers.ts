import { cacheControl } from "../../pipeline/documents/file-headers.ts";

/** Every answer says these: nothing is sniffed, and addresses stay here. */
const always = { "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin" };

/** Own style, script and images, forms that lead back here, nothing else. */
export const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export const caching = cacheControl;

export type Headers = Record<string, string>;

/**
 * An answer with a body whose length is stated, for GET and HEAD alike. The body goes beside the response:
 * a Response would copy it, and lists are large. `withBody` joins them.
 */
export function answer(status: number, headers: Headers, body: string | Uint8Array | null): Response {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const response = new Response(null, { status, headers: allHeaders(headers, bytes?.length) });
  if (bytes) bodies.set(response, bytes);
  return response;
}

/** @param length of the body; undefined: there is none */
export const allHeaders = (headers: Headers, length: number | undefined): Headers => ({
  ...always,
  ...(length !== undefined && { "Content-Length": String(length) }),
  ...headers,
});

const bodies = new WeakMap<Response, Uint8Array>();

/** The very bytes of an answer. */
export const bodyOf = (response: Response): Uint8Array | undefined => bodies.get(response);

/** The answer as everybody else understands it. */
export function withBody(response: Response): Response {
  const bytes = bodies.get(response);
  return bytes ? new Response(bytes as Uint8Array<ArrayBuffer>, response) : response;
}

/** A JSON answer; not kept by anybody unless `headers` say so. */
export const json = (status: number, value: unknown, headers: Headers = {}): Response =>
  answer(
    status,
    { "Content-Type": "application/json", "Cache-Control": caching.none, ...headers },
    JSON.stringify(value),
  );

/** An error in the words of the framework that this API's clients were written against. */
export const detail = (status: number, text: string, headers: Headers = {}): Response =>
  json(status, { detail: text }, headers);

export const notFound = (headers: Headers = {}): Response => detail(404, "Not found.", headers);

export const notAcceptable = (headers: Headers = {}): Response =>
  detail(406, "Could not satisfy the request Accept header.", headers);

export const methodNotAllowed = (method: string, headers: Headers): Response =>
  detail(405, `Method "${method}" not allowed.`, headers);

export const redirect = (status: 301 | 302 | 308, location: string, headers: Headers = {}): Response =>
  answer(status, { Location: location, "Cache-Control": caching.public, ...headers }, "");

/** Whether the client has these bytes already (RFC 9110, 13.1.2). */
export function isCurrent(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
