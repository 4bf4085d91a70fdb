import type { Config } from "../documents/config.ts";
import type { OutputGroup } from "../documents/published.ts";

/** A decided site: nothing is written yet. */
export interface Site {
  config: Config;
  /** Versions that are not permanent, ascending. */
  provisional: string[];
  releaseCount: number;
  packageCount: number;
  /** Files that lead to no others, a group for each release among them; made as they are asked for. */
  leaves: readonly OutputGroup[];
  /** What spans releases and leads to the leaves, in the order in which readers may meet it. */
  indexes: Iterable<OutputGroup>;
}
