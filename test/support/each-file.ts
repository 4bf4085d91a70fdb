import fc from "fast-check";
import { afterAll, afterEach, beforeEach } from "vitest";
import { endFile } from "./after-file.ts";
import { seed } from "./effort.ts";
import { ownSeconds, runningSeconds } from "./processor-time.ts";
import { warmSeconds } from "./run.ts";

fc.configureGlobal({ seed });

// vitest runs this module before each test file. The process is restored after each file.
const before = { ...process.env };
const folder = process.cwd();

afterAll(async () => {
  await endFile();
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

declare module "vitest" {
  interface TaskMeta {
    /** Seconds of processor time of a slow test, with its processes: the gate refuses a test that waits. */
    processor?: number;
  }
}

if (process.env.RELCAT_GATE !== undefined) {
  /** Seconds. A shorter test may wait. */
  const slow = 10;
  let start = 0;
  let used = 0;
  beforeEach(() => {
    start = performance.now();
    used = ownSeconds() + warmSeconds();
  });
  afterEach(({ task }) => {
    if (performance.now() - start < slow * 1000) return;
    task.meta.processor = ownSeconds() + warmSeconds() - used + runningSeconds();
  });
}
