import { request } from "node:http";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";

/** An unchanged answer of a server. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** Sends a request exactly as written: no default headers, no tidying of the path, no redirects followed. */
export function send(url: string, method: string, headers: Record<string, string>): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const path = url.slice(url.indexOf("/", "http://".length));
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path, method, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () => {
        const values = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
        resolve({
          status: incoming.statusCode ?? 0,
          headers: Object.fromEntries(values),
          body: Buffer.concat(chunks),
        });
      });
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

/** The uncompressed body. */
export function decoded({ headers, body }: Answer): Buffer {
  if (headers["content-encoding"] === "br") return brotliDecompressSync(body);
  if (headers["content-encoding"] === "gzip") return gunzipSync(body);
  return headers["content-encoding"] === "zstd" ? zstdDecompressSync(body) : body;
}
