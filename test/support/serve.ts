import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { contentSecurityPolicy } from "../../service/http/answers.ts";
import type { Tree } from "./tree.ts";

const types: Record<string, string> = {
  html: "text/html; charset=utf-8",
  json: "application/json",
  css: "text/css",
  js: "text/javascript",
  svg: "image/svg+xml",
  atom: "application/atom+xml",
  md: "text/markdown; charset=utf-8",
};

/** Serves a built site as a plain file host does, below `base`, pages under the policy that relcat's hosts send. */
export async function serve(tree: Tree, base: string): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
    const path = decodeURIComponent(pathname.slice(base.length));
    const found = [path, `${path}index.html`, `${path}index.json`].find((name) => tree.has(name));
    if (!pathname.startsWith(base) || found === undefined) {
      response.writeHead(404, headersOf("404.html")).end(tree.get("404.html"));
      return;
    }
    response.writeHead(200, headersOf(found)).end(tree.get(found));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`, server };
}

function headersOf(path: string): Record<string, string> {
  const type = types[path.split(".").at(-1) ?? ""] ?? "text/plain";
  return {
    "content-type": type,
    ...(path.endsWith(".html") && { "content-security-policy": contentSecurityPolicy }),
  };
}
