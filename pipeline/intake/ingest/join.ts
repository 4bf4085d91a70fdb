import type { Problem } from "../../errors.ts";
import { type Build, type Evidence, problem, type StoreObject } from "./evidence.ts";
import { baseOf } from "./formats/store-path.ts";
import { type JobFile, joinFiles } from "./join-files.ts";
import { joinObjects, joinRecipes, mainOutputs } from "./join-store.ts";

/** One job: its files, and what Nix knows of the store paths they come from. */
export interface Job {
  /** By name. */
  files: JobFile[];
  /** What was built for this job, as whole store paths. */
  outputs: string[];
  /** By store path without the store. */
  objects: ReadonlyMap<string, StoreObject>;
  /** Output to recipe, both without the store. */
  drvs: ReadonlyMap<string, string>;
}

/** Makes one story of what several inputs say, whatever their order; contradictions are problems. */
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

/** A build of which nothing is released was lost on the way, or is not for this release. */
function unusedBuilds(builds: readonly Build[], files: readonly JobFile[]): Problem[] {
  // A file that was copied out of the store may be of any build.
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
