import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, BlockList, isIPv6, type Socket } from "node:net";
import { longestTarget } from "./path.ts";

// An import would load the client that the module exports too, with all of fetch: 16 MB that no server needs.
const { createServer } = process.getBuiltinModule("node:http");

/** A line of the log for each request. */
export interface RequestEntry {
  event: "request";
  remote: string;
  method: string;
  path: string;
  status: number;
  bytes: number;
  ms: number;
  agent: string;
}

const headerBytes = 16 * 1024;

/** How long clients are waited for, in milliseconds. */
export const patience = {
  /** To send the headers, and the whole request. */
  headers: 10_000,
  request: 30_000,
  /** Between two requests, and without any byte moving. */
  keepAlive: 15_000,
  idle: 60_000,
  /** For what runs when the server is told to stop. */
  close: 10_000,
};
export type Patience = typeof patience;

export interface Certificate {
  cert: Uint8Array;
  key: Uint8Array;
}

/** An HTTP server with bounds on what clients send and how long they take. @param certificate for HTTPS */
export function boundedServer(waits: Patience, certificate?: Certificate): Server {
  const options = {
    maxHeaderSize: headerBytes,
    headersTimeout: waits.headers,
    requestTimeout: waits.request,
    keepAliveTimeout: waits.keepAlive,
    connectionsCheckingInterval: Math.min(1000, waits.headers),
  };
  const server = certificate
    ? createSecureServer({
        ...options,
        cert: Buffer.from(certificate.cert),
        key: Buffer.from(certificate.key),
      })
    : createServer(options);
  server.setTimeout(waits.idle);
  server.on("clientError", refuseClient);
  return server;
}

/** @returns the address it listens on @throws EADDRINUSE, EACCES */
export async function listen(
  server: Server,
  address: { host: string; port: number; reusePort?: boolean },
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ reusePort: false, ...address }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const { address: host, port } = server.address() as AddressInfo;
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** Takes no more requests, finishes those that run, and ends what takes longer than `grace` milliseconds. */
export async function closeServer(server: Server, grace: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), grace);
  await closed;
  clearTimeout(timer);
}

/** What a client may go on to send when it has its answer, in milliseconds and bytes. */
const lingering = { time: 500, bytes: 4 * 1024 * 1024 };

/** Connections that have had their last answer. */
const answered = new WeakSet<Socket>();

const saysBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/**
 * Sends a whole answer. After a request that was not read to its end the connection closes, but not at once: a
 * client that still sends would meet a reset, and lose the answer that it has not read yet (RFC 9112, 9.6).
 * @param body as it is sent; its length is among the headers
 */
export function sendAnswer(
  outgoing: ServerResponse,
  status: number,
  headers: string[] | Record<string, string>,
  body: Uint8Array | string | undefined,
): void {
  const { req: incoming } = outgoing;
  if (incoming.complete || !saysBody(incoming)) {
    outgoing.writeHead(status, headers).end(body);
    return;
  }
  answered.add(incoming.socket);
  outgoing.setHeader("Connection", "close");
  outgoing.writeHead(status, headers).flushHeaders();
  if (body !== undefined) outgoing.write(body);
  const end = () => {
    clearTimeout(timer);
    outgoing.end();
  };
  const timer = setTimeout(end, lingering.time);
  let taken = 0;
  incoming.on("data", (chunk: Uint8Array) => {
    taken += chunk.length;
    if (taken > lingering.bytes) incoming.pause();
  });
  incoming.once("end", end).once("error", end).once("close", end);
  outgoing.once("close", end);
}

/** What cannot even be read as a request. */
function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable || answered.has(socket)) return void socket.destroy();
  const text =
    error.code === "HPE_HEADER_OVERFLOW"
      ? `The request line and headers have more than ${headerBytes} bytes, a path more than ${longestTarget}.`
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "The request took too long."
        : "Bad request.";
  const status = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "408 Request Timeout" : "400 Bad Request";
  const body = JSON.stringify({ detail: text });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Who is believed to be a proxy, and what that one says of the client. */
export interface Proxies {
  /** The nearest address that is no trusted proxy. */
  remoteOf(incoming: IncomingMessage): string;
  /** Whether the neighbour is a trusted proxy that says it was asked over HTTPS. */
  saysHttps(incoming: IncomingMessage): boolean;
}

/** @param trusted addresses or networks (10.0.0.0/8) whose X-Forwarded-For and X-Forwarded-Proto are believed */
export function proxiesOf(trusted: readonly string[]): Proxies {
  const proxies = new BlockList();
  for (const entry of trusted) {
    const [address = "", bits] = entry.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  const isProxy = (address: string) =>
    trusted.length > 0 && proxies.check(address, isIPv6(address) ? "ipv6" : "ipv4");
  const neighbour = ({ socket }: IncomingMessage) => (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  return {
    remoteOf(incoming) {
      let remote = neighbour(incoming);
      const hops = String(incoming.headers["x-forwarded-for"] ?? "")
        .split(",")
        .map((hop) => hop.trim());
      while (isProxy(remote) && hops.length > 0) remote = hops.pop() || remote;
      return remote;
    },
    saysHttps: (incoming) =>
      isProxy(neighbour(incoming)) && incoming.headers["x-forwarded-proto"] === "https",
  };
}

/** Calls `log` when a request has its answer, or its client has gone. */
export function logWhenDone(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  remote: string,
  { clock, log }: { clock: () => number; log: (entry: RequestEntry) => void },
): void {
  const start = clock();
  const before = incoming.socket.bytesWritten;
  outgoing.once("close", () => {
    log({
      event: "request",
      remote,
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      // A client that went away before its answer.
      status: outgoing.headersSent ? outgoing.statusCode : 499,
      bytes: incoming.socket.bytesWritten - before,
      ms: Math.round((clock() - start) * 10) / 10,
      agent: incoming.headers["user-agent"] ?? "",
    });
  });
}

/** Resolves when this process is asked to stop. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => resolve());
  });
}
