import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, BlockList, isIPv6, type Socket } from "node:net";
import { maxTargetLength } from "./path.ts";

// An ES import of node:http also loads its client with fetch: 16 MB that a server does not need.
const { createServer } = process.getBuiltinModule("node:http");

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

/** Time-outs in milliseconds. */
const timeouts = {
  /** To receive the headers, and the whole request. */
  headers: 10_000,
  request: 30_000,
  /** Between two requests, and without any data. */
  keepAlive: 15_000,
  idle: 60_000,
  /** For open requests at shutdown. */
  close: 10_000,
};
type Timeouts = typeof timeouts;

export interface ListenOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  /** Addresses or networks (10.0.0.0/8) whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
  trustedProxies?: readonly string[];
  /** Several processes may listen on the same port. */
  reusePort?: boolean;
  certificate?: { cert: Uint8Array; key: Uint8Array } | undefined;
  /** Time-outs in milliseconds that differ from the defaults. */
  timeouts?: Partial<Timeouts>;
  /** Monotonic clock in milliseconds, for durations. */
  clock: () => number;
  log: (entry: RequestEntry) => void;
}

/** The client of a request, as a trusted proxy reports it. */
export interface Client {
  remote: string;
  https: boolean;
}

/** Starts a server, whose requests are logged. @throws EADDRINUSE, EACCES for the address */
export async function startServer(
  options: ListenOptions,
  respond: (incoming: IncomingMessage, outgoing: ServerResponse, client: Client) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const { certificate, trustedProxies = [] } = options;
  const waits = { ...timeouts, ...options.timeouts };
  const server = boundedServer(waits, certificate);
  const proxies = proxiesOf(trustedProxies);
  server.on("request", (incoming, outgoing) => {
    const remote = proxies.remoteOf(incoming);
    logWhenDone(incoming, outgoing, remote, options);
    respond(incoming, outgoing, { remote, https: certificate !== undefined || proxies.saysHttps(incoming) });
  });
  const address = await listen(server, options);
  return {
    url: `${certificate ? "https" : "http"}://${address}`,
    close: () => closeServer(server, waits.close),
  };
}

function boundedServer(waits: Timeouts, certificate: ListenOptions["certificate"]): Server {
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

async function listen(server: Server, address: ListenOptions): Promise<string> {
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

/** Finishes the current requests, and aborts those that take longer than `grace` milliseconds. */
async function closeServer(server: Server, grace: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // A connection that becomes idle from now on need not wait for a further request.
  server.keepAliveTimeout = 1;
  const timer = setTimeout(() => server.closeAllConnections(), grace);
  await closed;
  clearTimeout(timer);
}

/** Limits on what a client may still send after its answer, in milliseconds and bytes. */
const lingering = { time: 500, bytes: 4 * 1024 * 1024 };

const answered = new WeakSet<Socket>();

const saysBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/**
 * Sends a whole answer. If the request was not read to its end, the connection is closed after a delay:
 * closing at once would reset it, and the client would lose the answer (RFC 9112, 9.6).
 * @param body its length is among the headers
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
  let received = 0;
  incoming.on("data", (chunk: Uint8Array) => {
    received += chunk.length;
    if (received > lingering.bytes) incoming.pause();
  });
  incoming.once("end", end).once("error", end).once("close", end);
  outgoing.once("close", end);
}

function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable || answered.has(socket)) return void socket.destroy();
  const text =
    error.code === "HPE_HEADER_OVERFLOW"
      ? `The request line and headers have more than ${headerBytes} bytes, a path more than ${maxTargetLength}.`
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "The request took too long."
        : "Bad request.";
  const status = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "408 Request Timeout" : "400 Bad Request";
  const body = JSON.stringify({ detail: text });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function proxiesOf(trusted: readonly string[]) {
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
    /** The nearest address that is not a trusted proxy. */
    remoteOf(incoming: IncomingMessage): string {
      let remote = neighbour(incoming);
      const hops = String(incoming.headers["x-forwarded-for"] ?? "")
        .split(",")
        .map((hop) => hop.trim());
      while (isProxy(remote) && hops.length > 0) remote = hops.pop() || remote;
      return remote;
    },
    /** True if a trusted proxy reports that the client used HTTPS. */
    saysHttps: (incoming: IncomingMessage): boolean =>
      isProxy(neighbour(incoming)) && incoming.headers["x-forwarded-proto"] === "https",
  };
}

/** Calls `log` when the answer was sent or the client disconnected. */
function logWhenDone(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  remote: string,
  { clock, log }: ListenOptions,
): void {
  const start = clock();
  const before = incoming.socket.bytesWritten;
  outgoing.once("close", () => {
    log({
      event: "request",
      remote,
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      // The client disconnected before its answer (499 as in nginx).
      status: outgoing.headersSent ? outgoing.statusCode : 499,
      bytes: incoming.socket.bytesWritten - before,
      ms: Math.round((clock() - start) * 10) / 10,
      agent: incoming.headers["user-agent"] ?? "",
    });
  });
}

/** Resolves on SIGINT or SIGTERM. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => resolve());
  });
}
