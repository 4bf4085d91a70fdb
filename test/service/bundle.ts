import { join } from "node:path";
import { rolldown } from "rolldown";

const repository = join(import.meta.dirname, "../..");

/** The worker that a build copies. */
export const workerFile = join(repository, "templates/hosting/cloudflare/worker.js");

const banner = "/*! relcat: the catalog at the edge, made from service/catalog/worker.ts. */";

/** The edge worker as one module. */
export async function bundleWorker(): Promise<string> {
  const bundle = await rolldown({
    input: join(repository, "service/catalog/worker.ts"),
    platform: "browser",
    logLevel: "silent",
  });
  const { output } = await bundle.generate({ format: "esm", minify: true, banner });
  await bundle.close();
  if (output.length !== 1) throw new Error("the worker is more than one module");
  return output[0].code;
}
