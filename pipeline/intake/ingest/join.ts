import type { Problem } from "../../../shared/errors.ts";
import { type Build, type Evidence, problem, type StoreObject } from "./evidence.ts";
import { baseOf } from "./formats/store-path.ts";
import { type JobFile, joinFiles } from "./join-files.ts";
import { joinObjects, joinRecipes, mainOutputs } from "./join-store.ts";

/** One job: its files, and Nix metadata of their store paths. */
export interface Job {
  /** Sorted by name. */
  files: JobFile[];
  /** Full store paths built for this job. */
  outputs: string[];
  /** Keyed by store path without the store. */
  objects: ReadonlyMap<string, StoreObject>;
  /** Output to recipe, both without the store. */
  drvs: ReadonlyMap<string, string>;
}

/** Merges all inputs, in any order; contradictions are problems. */
export function join(evidence: Evidence): { job: Job; problems: Problem[] } {
  const problems: Problem[] = [];
  const job: Job = {
    files: joinFiles(evidence, problems),
    outputs: mainOutputs(evidence.builds),
    objects: joinObjects(evidence.objects, problems),
    drvs: joinRecipes(evidence, problems),
  };
  problems.push(...unusedBuilds(evidence.builds, job.files));
  return { job, problems };
}

/** A build without a released file indicates a missing file or the wrong release. */
function unusedBuilds(builds: readonly Build[], files: readonly JobFile[]): Problem[] {
  // A file copied out of the store may come from any build.
  if (files.some(({ store, finished }) => store === undefined && !finished)) return [];
  const used = new Set(files.map(({ store }) => baseOf(store ?? "")));
  return builds
    .filter(({ wanted, outputs }) => wanted && !Object.values(outputs).some((path) => used.has(baseOf(path))))
    .map(({ outputs, drv, at }) => {
      const path = outputs.out ?? Object.values(outputs)[0] ?? drv ?? "this build: it names no output";
      const hint = "Give its output folder or file too, or leave this build out of the inputs.";
      return problem("build-unused", at, `no file for download is known of ${path}`, hint);
    });
}
