import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { afterFile } from "../support/after-file.ts";
import { selfSigned } from "../support/certify.ts";
import { madeOnce } from "../support/run.ts";

/** Answer of an address; undefined: not found. */
export interface Page {
  /** Default: 200. */
  status?: number;
  bytes: Uint8Array;
  headers: Record<string, string>;
}

/** Answers for one host name. */
export type Answering = (path: string, request: IncomingMessage) => Page | undefined;

/** By host name: its answers, or the http:// address of a server that answers for it. */
export type Hosts = Readonly<Record<string, Answering | string>>;

/**
 * The hosts of example.com, in this process. Clients reach them over HTTPS through a proxy, so that the commands of a
 * document run with their own addresses.
 * @returns environment variables for processes
 */
export async function localWeb(hosts: Hosts): Promise<Record<string, string>> {
  const folder = await madeOnce("certificate of example.com", async (made) => {
    await selfSigned(made, "example.com", "DNS:*.example.com");
  });
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const web = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    const answering = hosts[request.headers.host ?? ""];
    if (typeof answering === "string") return forward(answering, request, response);
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname).slice(1);
    const page = answering?.(path, request);
    if (!page) return void response.writeHead(404, { "content-type": "text/plain" }).end();
    response.writeHead(page.status ?? 200, { ...page.headers, "content-length": page.bytes.length });
    response.end(request.method === "HEAD" ? undefined : page.bytes);
  });
  const sockets = new Set<Socket>();
  const proxy = createServer();
  proxy.on("connection", (socket: Socket) => sockets.add(socket));
  proxy.on("connect", (_, socket: Socket, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) socket.unshift(head);
    web.emit("connection", socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  afterFile(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    HTTPS_PROXY: address,
    https_proxy: address,
    NO_PROXY: "127.0.0.1",
    NODE_USE_ENV_PROXY: "1",
    NODE_EXTRA_CA_CERTS: cert,
    CURL_CA_BUNDLE: cert,
  };
}

/** As a reverse proxy does, which ends TLS; answers pass as they come, because some never end. */
function forward(server: string, request: IncomingMessage, response: ServerResponse): void {
  const { method, headers } = request;
  const behind = send(`${server}${request.url}`, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  behind.on("error", () => response.destroy());
  response.on("close", () => behind.destroy());
  request.pipe(behind);
}
