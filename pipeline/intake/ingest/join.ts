import type { Problem } from "../../../shared/errors.ts";
import { differingLeaves, leaves, shortly } from "../../records/merge.ts";
import {
  type At,
  agree,
  type Build,
  byPlace,
  type Claim,
  type Evidence,
  type Finished,
  type FoundFile,
  problem,
  type StoreObject,
  wholeFile,
} from "./evidence.ts";
import { baseOf, narHashOf } from "./formats/store-path.ts";

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
  const files = joinFiles(evidence, problems);
  const outputs = mainOutputs(evidence.builds);
  const released = new Set([...outputs, ...files.map(({ store = "" }) => store)].map(baseOf));
  const objects = joinObjects(evidence.objects, problems);
  const drvs = joinRecipes(evidence, released, problems);
  problems.push(...unusedBuilds(evidence, files));
  return { job: { files, outputs, objects, drvs }, problems };
}

/** A build without a released file indicates a missing file or the wrong release. */
function unusedBuilds({ builds, files: found, leftOut }: Evidence, files: readonly JobFile[]): Problem[] {
  // A file copied out of the store may come from any build. If every file was left out, another message names them.
  if (files.some(({ store, finished }) => store === undefined && !finished)) return [];
  if (files.length === 0 && leftOut.length > 0) return [];
  return withoutFiles(builds, [...files, ...found])
    .filter(({ wanted }) => wanted)
    .map(({ outputs, drv, at }) => {
      const path = outputs.out ?? Object.values(outputs)[0] ?? drv ?? "this build: it names no output";
      const hint = "Give its output folder or file too, or leave this build out of the inputs.";
      return problem("build-unused", at, `no file for download is known of ${path}`, hint);
    });
}

/** Builds none of whose outputs contains a file, or leads to one. */
export function withoutFiles(
  builds: readonly Build[],
  files: readonly Pick<FoundFile, "store" | "through">[],
): Build[] {
  const used = new Set(files.flatMap(({ store = "", through = "" }) => [baseOf(store), baseOf(through)]));
  return builds.filter(({ outputs }) => !Object.values(outputs).some((path) => used.has(baseOf(path))));
}

/** Outputs built for the job; of several outputs, the one called `out`. */
export function mainOutputs(builds: readonly Build[]): string[] {
  const wanted = builds.filter((build) => build.wanted);
  const outputs = wanted.flatMap(({ outputs: made }) =>
    made.out === undefined ? Object.values(made) : [made.out],
  );
  return [...new Set(outputs)].sort();
}

/** Keyed by store path without the store. Inputs must agree about each object. */
function joinObjects(objects: readonly StoreObject[], problems: Problem[]): Map<string, StoreObject> {
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
function joinRecipes(
  { builds, objects }: Pick<Evidence, "builds" | "objects">,
  released: ReadonlySet<string>,
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
    // Several recipes of a closure may fetch one source.
    const agreed = agree(`the derivation of ${base}`, claims, released.has(base) ? problems : []);
    if (agreed) drvs.set(base, agreed.value);
  }
  return drvs;
}

/** A downloadable file, with the merged information of all inputs. */
export interface JobFile {
  name: string;
  /** Candidate paths in order of likelihood, one list per input. */
  copies: (readonly string[])[];
  sha256: Claim<string> | undefined;
  size: Claim<number> | undefined;
  hint: string | undefined;
  finished: Finished | undefined;
  /** Store path that contains it, if known. */
  store: string | undefined;
  at: At;
}

export const oneFile =
  "Either the file changed after it was described, or two files have one name: ingest those apart, one with --set file=….";

/** Sorted by name. */
function joinFiles({ files, builds, objects }: Evidence, problems: Problem[]): JobFile[] {
  const stores = [
    ...builds.flatMap(({ outputs }) => Object.values(outputs)),
    ...objects.map(({ path }) => path),
  ];
  const byName = Map.groupBy(files, ({ name }) => name);
  return [...byName.keys()].sort().map((name) => {
    const parts = [...(byName.get(name) ?? [])].sort((a, b) => byPlace(a.at, b.at));
    const one = <T>(what: string, value: (part: FoundFile) => T | undefined) =>
      agree(`${what} of ${name}`, claims(parts, value), problems, oneFile);
    return {
      name,
      copies: parts.map(({ paths }) => paths).filter((paths) => paths.length > 0),
      sha256: one("SHA-256", ({ sha256 }) => sha256),
      size: one("the size", ({ size }) => size),
      store: one("the store path", (part) => storeOf(part, stores))?.value,
      hint: claims(parts, ({ hint }) => hint)[0]?.value,
      finished: oneFinished(name, parts, problems),
      at: parts[0]?.at ?? wholeFile(name),
    };
  });
}

function claims<T>(parts: readonly FoundFile[], value: (part: FoundFile) => T | undefined): Claim<T>[] {
  return parts.flatMap((part) => {
    const claimed = value(part);
    return claimed === undefined ? [] : [{ value: claimed, at: part.at }];
  });
}

/** Inputs name the full path of a store outside /nix/store. */
function storeOf({ paths, store }: FoundFile, stores: readonly string[]): string | undefined {
  if (store !== undefined) return stores.find((path) => baseOf(path) === baseOf(store)) ?? store;
  return stores.find((around) => paths.some((path) => path === around || path.startsWith(`${around}/`)));
}

/** Two finished manifests may repeat an artifact, but not with different descriptions. */
function oneFinished(name: string, parts: readonly FoundFile[], problems: Problem[]): Finished | undefined {
  const [first, ...others] = claims(parts, ({ finished }) => finished);
  for (const { value: finished, at } of others) {
    const [here, there] = [leaves(finished.value), leaves(first?.value.value)];
    const fields = differingLeaves(there, here).map(
      (field) => `${field} ${shortly(there.get(field))} ↔ ${shortly(here.get(field))}`,
    );
    if (fields.length === 0 || !first) continue;
    const { file, line } = first.at();
    const message = `${name} is described differently in ${file}:${line}: ${fields.join(", ")}`;
    const hint = "One file has one description: correct or leave out one of the two.";
    problems.push(problem("ingest-conflict", at, message, hint));
  }
  return first?.value;
}
