import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { bundleWorker, workerFile } from "./bundle.ts";

/** `npm run worker`: bundles service/catalog/worker.ts into the edge worker that builds emit. */
mkdirSync(dirname(workerFile), { recursive: true });
writeFileSync(workerFile, await bundleWorker());
