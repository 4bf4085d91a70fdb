import { join } from "node:path";
import type { Remember } from "../build.ts";
import type { Inputs } from "./build-looks.ts";
import { cacheIn, type OnCacheFailure } from "./cache.ts";
import type { Fragments } from "./gzip-fragments.ts";
import { inputTable } from "./input-table.ts";
import { type JoinedParts, joinedParts } from "./joined-parts.ts";
import { type OutputTable, outputTable } from "./output-table.ts";
import { releaseCache } from "./release-cache.ts";

/** What a build needs to know to use what earlier ones left. */
export interface Remembering {
  /** What tells this program from any other, as `programIdentity` has it. */
  program: string;
  /** Files that it may read, as they looked before it began. */
  inputs: Omit<Inputs, "racy">;
}

/** What earlier builds of a project left, and this one leaves for later ones. */
export interface BuildMemory {
  fragments: Fragments;
  /** What was made of releases whose files did not change. */
  remember: Remember;
  outputs: OutputTable;
  /** Of files that span releases, the parts that did not change. */
  parts: JoinedParts;
  /** After everything is written. */
  save(): void;
  /** Once, whether the build came to its end or not. */
  end(): void;
}

/** Beside the releases folder; git-ignored. */
export const cacheFolder = (folder: string) => join(folder, "../.relcat-cache");

/**
 * @param site whose address the build is for
 */
export function openBuildMemory(
  folder: string,
  out: string,
  site: string | undefined,
  { pid, clock, onCacheFailure }: { pid: number; clock: number; onCacheFailure?: OnCacheFailure | undefined },
  { program, inputs: looks }: Remembering,
): BuildMemory | undefined {
  const cache = cacheIn(cacheFolder(folder), pid, clock, onCacheFailure);
  if (!cache) return undefined;
  const inputs = inputTable(cache, folder, looks);
  const outputs = outputTable(cache, out, program);
  return {
    fragments: { cache, program },
    outputs,
    parts: joinedParts(cache, out, program),
    remember(found, files) {
      const config = found.config === undefined ? "" : new TextDecoder().decode(files.read(found.config));
      const basis = JSON.stringify([program, config, site ?? null, folder]);
      return releaseCache(cache, basis, folder, files, inputs);
    },
    save() {
      inputs.save();
      outputs.save();
      cache.prune();
    },
    end() {
      outputs.end();
    },
  };
}
