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
  const asked = incoming.headers.host || host;
  return isHost(asked) ? new NodeRequest(incoming, target, path, asked) : undefined;
}

/** RFC 9112, 3.2: several Host headers are an error, because Node and a proxy could choose different ones. */
export function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") found++;
  }
  return found > 1;
}

function isHost(host: string): boolean {
  const url = URL.parse(`http://${host}`);
  return url !== null && url.href === `http://${url.host}/`;
}

class NodeRequest implements ServerRequest {
  readonly method: string;
  readonly target: string;
  readonly path: string;
  readonly #incoming: IncomingMessage;
  readonly #host: string;

  constructor(incoming: IncomingMessage, target: string, path: string, host: string) {
    this.method = incoming.method ?? "";
    this.target = target;
    this.path = path;
    this.#incoming = incoming;
    this.#host = host;
  }

  get origin(): string {
    const isSecure = (this.#incoming.socket as TLSSocket).encrypted === true;
    return new URL(`${isSecure ? "https" : "http"}://${this.#host}`).origin;
  }

  /** Uses the raw headers, because Node drops repeated ones, and two credentials must not pass as one. */
  header(name: string): string | null {
    const { rawHeaders } = this.#incoming;
    let found: string | null = null;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const each = rawHeaders[index] ?? "";
      if (each.length !== name.length || each.toLowerCase() !== name) continue;
      const value = rawHeaders[index + 1] ?? "";
      found = found === null ? value : `${found}${name === "cookie" ? "; " : ", "}${value}`;
    }
    return found;
  }

  async read(limit: number): Promise<Uint8Array | Unread> {
    if (Number(this.header("content-length")) > limit) return "too-large";
    return readUpTo(this.#incoming, limit);
  }
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
