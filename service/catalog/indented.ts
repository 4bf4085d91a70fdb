import { answer } from "../http/answers.ts";
import { type ServerAnswer, wholeBody } from "../http/request.ts";
import type { CatalogRequest } from "./exchange.ts";
import { answerBytes } from "./files.ts";

const hidden = ["accept-encoding", "if-none-match"];

/** The bytes to be reformatted must be uncompressed and complete. */
export const withoutEncoding = (request: CatalogRequest): CatalogRequest => ({
  method: request.method,
  target: request.target,
  header: (name) => (hidden.includes(name) ? null : request.header(name)),
  read: (limit) => request.read(limit),
});

/** The same JSON with indentation, under a different ETag. */
export async function indented(
  given: ServerAnswer,
  indent: number,
  request: CatalogRequest,
): Promise<ServerAnswer> {
  if (given.headers["Content-Type"] !== "application/json") return given;
  const bytes = await wholeBody(given);
  if (!bytes) return given;
  const text = JSON.stringify(JSON.parse(new TextDecoder().decode(bytes)), null, indent);
  const { "Content-Length": _, ETag: etag, ...headers } = given.headers;
  if (etag === undefined) return answer(given.status, headers, text);
  const tag = `${etag.slice(0, -1)}-indent-${indent}"`;
  return answerBytes(request, new TextEncoder().encode(text), tag, given.status, headers);
}
