import type { Problem } from "../../../shared/errors.ts";
import { differingLeaves, leaves, shortly } from "../../records/merge.ts";
import { agree, byPlace } from "./agree.ts";
import {
  type At,
  type Claim,
  type Evidence,
  type Finished,
  type FoundFile,
  problem,
  wholeFile,
} from "./evidence.ts";
import { baseOf } from "./formats/store-path.ts";

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

/** Problem for any disagreement between two files with the same name. */
export const oneFile =
  "Either the file changed after it was described, or two files have one name: ingest those apart, one with --set file=….";

/** Sorted by name. */
export function joinFiles({ files, builds, objects }: Evidence, problems: Problem[]): JobFile[] {
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
    problems.push(
      problem(
        "ingest-conflict",
        at,
        message,
        "One file has one description: correct or leave out one of the two.",
      ),
    );
  }
  return first?.value;
}
