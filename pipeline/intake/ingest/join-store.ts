import type { Problem } from "../../../shared/errors.ts";
import { agree, byPlace } from "./agree.ts";
import type { Build, Claim, Evidence, StoreObject } from "./evidence.ts";
import { narHashOf } from "./formats/nix-hash.ts";
import { baseOf } from "./formats/store-path.ts";

/** Outputs built for the job; of several outputs, the one called `out`. */
export function mainOutputs(builds: readonly Build[]): string[] {
  const wanted = builds.filter((build) => build.wanted);
  const outputs = wanted.flatMap(({ outputs: made }) =>
    made.out === undefined ? Object.values(made) : [made.out],
  );
  return [...new Set(outputs)].sort();
}

/** Keyed by store path without the store. Inputs must agree about each object. */
export function joinObjects(objects: readonly StoreObject[], problems: Problem[]): Map<string, StoreObject> {
  const joined = new Map<string, StoreObject>();
  for (const [base, same] of Map.groupBy(objects, ({ path }) => baseOf(path))) {
    const [first] = [...same].sort((a, b) => byPlace(a.at, b.at));
    const sizes = same.map(({ narSize: value, at }) => ({ value, at }));
    const hashes = same.map(({ narHash, at }) => ({ value: narHashOf(narHash) ?? narHash, at }));
    agree(`narSize of ${base}`, sizes, problems);
    agree(`narHash of ${base}`, hashes, problems);
    if (first) joined.set(base, first);
  }
  return joined;
}

/** Output to recipe. The deriver of a store object is used only if no build names one. */
export function joinRecipes(
  { builds, objects }: Pick<Evidence, "builds" | "objects">,
  problems: Problem[],
): Map<string, string> {
  const drvs = new Map<string, string>();
  for (const { path, deriver } of objects) {
    const [base, drv] = [baseOf(path), baseOf(deriver ?? "")];
    // Stores may record different, equally valid derivers; the smallest makes the result deterministic.
    if (drv !== "" && drv < (drvs.get(base) ?? "\uFFFF")) drvs.set(base, drv);
  }
  const stated = builds.flatMap(({ drv, outputs, at }) =>
    drv === undefined
      ? []
      : Object.values(outputs).map((output) => ({ output: baseOf(output), value: baseOf(drv), at })),
  );
  for (const [base, claims] of Map.groupBy(stated, ({ output }) => output)) {
    const agreed = agree<string>(`the derivation of ${base}`, claims satisfies Claim<string>[], problems);
    if (agreed) drvs.set(base, agreed.value);
  }
  return drvs;
}
