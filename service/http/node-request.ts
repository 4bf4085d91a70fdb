import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { sendAnswer } from "./node-server.ts";
import { readPath } from "./path.ts";
import type { ServerAnswer, ServerRequest, Unread } from "./request.ts";

/** Converts Node's request. @returns undefined for malformed requests */
export function readRequest(incoming: IncomingMessage, host: string): ServerRequest | undefined {
  const [target = ""] = (incoming.url ?? "").split("#", 1);
  const path = readPath(target, "");
  if (path === "bad" || path === undefined || hasSeveralHosts(incoming)) return undefined;
  const scheme = (incoming.socket as TLSSocket).encrypted === true ? "https" : "http";
  const url = URL.parse(`${scheme}://${incoming.headers.host || host}`);
  if (url === null || url.href !== `${url.origin}/`) return undefined;
  const header = (name: string): string | null => {
    const values = valuesOf(incoming, name);
    return values.length === 0 ? null : values.join(name === "cookie" ? "; " : ", ");
  };
  return {
    method: incoming.method ?? "",
    target,
    path,
    origin: url.origin,
    header,
    read: async (limit) =>
      Number(header("content-length")) > limit ? "too-large" : readUpTo(incoming, limit),
  };
}

/** RFC 9112, 3.2: several Host headers are an error, because Node and a proxy could choose different ones. */
export const hasSeveralHosts = (incoming: IncomingMessage): boolean => valuesOf(incoming, "host").length > 1;

/** Uses the raw headers, because Node drops repeated ones, and two credentials must not pass as one. */
function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index] ?? "";
    if (each.length === name.length && each.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? "");
  }
  return values;
}

/** Bytes beyond the limit are left for the code that sends the answer. */
function readUpTo(incoming: IncomingMessage, limit: number): Promise<Uint8Array | Unread> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const take = (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > limit) done("too-large");
      else chunks.push(chunk);
    };
    const end = () => done(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size));
    const cut = () => done("cut-off");
    const done = (result: Uint8Array | Unread) => {
      incoming.off("data", take).off("end", end).off("error", cut).off("close", cut);
      // An error event without a listener would end the process.
      incoming.on("error", () => {});
      resolve(result);
    };
    incoming.on("data", take).once("end", end).once("error", cut).once("close", cut);
    if (incoming.destroyed && !incoming.readableEnded) cut();
  });
}

/** Sends an answer; for HEAD without its body. */
export function send(outgoing: ServerResponse, { status, headers, body }: ServerAnswer): void {
  const isHead = outgoing.req.method === "HEAD";
  const isWhole = typeof body === "string" || body === undefined || body instanceof Uint8Array;
  if (!isWhole && !isHead) return void stream(outgoing, status, headers, body);
  if (!isWhole) body.cancel().catch(() => {});
  sendAnswer(outgoing, status, headers, isWhole && !isHead ? body : undefined);
}

/** Backpressure applies; a disconnecting client ends the stream, and a failing stream the connection. */
async function stream(
  outgoing: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: ReadableStream<string | Uint8Array>,
): Promise<void> {
  const reader = body.getReader();
  let wake = () => {};
  outgoing.on("drain", () => wake());
  outgoing.once("close", () => {
    reader.cancel().catch(() => {});
    wake();
  });
  try {
    outgoing.writeHead(status, headers).flushHeaders();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (outgoing.destroyed) return;
      if (outgoing.write(part.value)) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    outgoing.end();
  } catch {
    outgoing.destroy();
  }
}
