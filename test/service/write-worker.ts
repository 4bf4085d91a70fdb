import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { bundleWorker, workerFile } from "./bundle.ts";

/** `npm run worker`: writes the edge worker that builds hand out from service/catalog/worker.ts. */
mkdirSync(dirname(workerFile), { recursive: true });
writeFileSync(workerFile, await bundleWorker());
