import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Tree } from "../../../support/tree.ts";

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  json: "application/json",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  atom: "application/atom+xml",
  md: "text/markdown; charset=utf-8",
};

/** An object of a store: its bytes, its type and a digest. */
export interface StoredObject {
  bytes: Buffer;
  headers: Record<string, string>;
}

/** @param asPublished media type that the object was stored with */
export function storedObject(
  tree: Tree,
  key: string,
  asPublished: (key: string) => string | undefined = () => undefined,
): StoredObject | undefined {
  const bytes = tree.get(key);
  if (!bytes) return undefined;
  const type = asPublished(key) ?? types[key.split(".").at(-1) ?? ""] ?? "text/plain; charset=utf-8";
  const etag = `"${createHash("md5").update(bytes).digest("hex")}"`;
  return { bytes, headers: { "content-type": type, etag } };
}

/** Sends an object, or 304. */
export function sendObject(
  request: IncomingMessage,
  response: ServerResponse,
  { bytes, headers }: StoredObject,
  status = 200,
): void {
  const isKnown = status === 200 && request.headers["if-none-match"] === headers.etag;
  if (isKnown) response.writeHead(304, headers).end();
  else response.writeHead(status, { ...headers, "content-length": bytes.length }).end(bytes);
}

/** Starts a server on a free port of 127.0.0.1. */
export async function listen(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void,
): Promise<{ origin: string; stop(): void }> {
  const server: Server = createServer((request, response) => {
    const failed = (error: Error) => response.writeHead(500).end(error.stack);
    Promise.resolve(answer(request, response)).catch(failed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => void server.close(),
  };
}
