import { answer, bodyOf } from "../http/answers.ts";
import { answerBytes } from "./files.ts";

/** What is rewritten must come as it is, and whole. */
export function withoutEncoding(request: Request): Request {
  if (request.method !== "GET" && request.method !== "HEAD") return request;
  const headers = new Headers(request.headers);
  for (const name of ["accept-encoding", "if-none-match"]) headers.delete(name);
  return new Request(request.url, { method: request.method, headers });
}

/** The same JSON in lines, under a tag of its own. */
export function indented(response: Response, indent: number, request: Request): Response {
  const bytes = bodyOf(response);
  if (!bytes || response.headers.get("content-type") !== "application/json") return response;
  const text = JSON.stringify(JSON.parse(new TextDecoder().decode(bytes)), null, indent);
  const { "content-length": _, etag, ...headers } = Object.fromEntries(response.headers);
  if (etag === undefined) return answer(response.status, headers, text);
  const tag = `${etag.slice(0, -1)}-indent-${indent}"`;
  return answerBytes(request, new TextEncoder().encode(text), tag, response.status, headers);
}
