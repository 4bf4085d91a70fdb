import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../support/run.ts";
import { servedArtifacts } from "../contract-artifacts.ts";
import { oddArtifactNames } from "../contract-paths.ts";
import type { Home } from "../run-contract.ts";
import { listen } from "./file-server.ts";

interface Worker {
  fetch(
    request: Request,
    bindings: { ASSETS: { fetch(address: string): Promise<Response> } },
  ): Promise<Response>;
}

/** The emitted worker over the site's files, in Node and without Cloudflare's own processing. */
export const worker: Home = {
  name: "Cloudflare",
  exceptions: [
    {
      part: "encodings",
      exchanges: ["brotli", "gzip", "brotli before gzip", "a filtered list"],
      reason: "Cloudflare compresses by itself; not tested here",
    },
    ...(
      [
        ["artifacts", servedArtifacts],
        ["paths", oddArtifactNames],
      ] as const
    ).map(([part, exchanges]) => ({
      part,
      exchanges,
      reason: "the worker has only the site's documents: artifacts need a URL outside its route",
      instead: { status: 404 },
    })),
  ],
  async start({ folder, tree }) {
    const module = join(temporaryFolder(), "worker.mjs");
    writeFileSync(module, readFileSync(join(folder, "hosting/cloudflare/worker.js")));
    const program: Worker = (await import(module)).default;
    const ASSETS = {
      fetch: async (address: string) => {
        const bytes = tree.get(decodeURIComponent(new URL(address).pathname).slice(1));
        return bytes ? new Response(new Uint8Array(bytes)) : new Response(null, { status: 404 });
      },
    };
    return listen(async ({ url, method = "GET", headers }, response) => {
      const asked = new Request(`https://edge.example${url}`, {
        method,
        headers: headers as Record<string, string>,
      });
      const answer = await program.fetch(asked, { ASSETS });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
  },
};
