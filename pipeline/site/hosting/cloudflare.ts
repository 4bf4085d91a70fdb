import type { OutputFile } from "../../documents/published.ts";
import { textFile } from "../output.ts";
import type { HostSources } from "./sources.ts";

const worker = "hosting/cloudflare/worker.js";

/** Cloudflare: the handler of `relcat serve` as a worker in front of the site's files. */
export function cloudflareFiles({ routing: { base }, templates }: HostSources): OutputFile[] {
  const program = templates.get(worker);
  return [
    ...(program === undefined ? [] : [textFile(worker, program)]),
    textFile("hosting/cloudflare/wrangler.jsonc", settings(base)),
  ];
}

const settings = (base: string) => `// Written by relcat. In the site's folder:
//   npx wrangler deploy --config hosting/cloudflare/wrangler.jsonc --name YOUR-WORKER --route 'YOUR-HOST${base}/*'
// hosting/ is uploaded with the site's files, but the worker sees every request first and serves nothing of it.
{
  "name": "catalog",
  "main": "worker.js",
  "compatibility_date": "2026-06-01",
  "assets": {
    "directory": "../..",
    "binding": "ASSETS",
    "html_handling": "none",
    "not_found_handling": "none",
    "run_worker_first": true
  }
}
`;
