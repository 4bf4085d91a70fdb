import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository, temporaryFolder } from "./run.ts";

/** Makes a Node process report its peak memory. */
export interface PeakMemory {
  nodeArgs: readonly string[];
  env: Record<string, string>;
  /** In bytes, after it has ended. */
  read(): number;
}

export function peakMemory(): PeakMemory {
  const report = join(temporaryFolder(), "peak");
  return {
    nodeArgs: ["--import", join(repository, "test/support/peak-memory.mjs")],
    env: { PEAK_MEMORY: report },
    read: () => Number(readFileSync(report, "utf8")),
  };
}
