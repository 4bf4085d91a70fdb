import type { Code, Place, Problem } from "../../../shared/errors.ts";
import type { WrittenArtifact } from "../../documents/manifest.ts";
import { error } from "../../records/report.ts";

/** Location of a statement in an input, computed only to report a problem. */
export type At = () => Place;

export interface Claim<T> {
  value: T;
  at: At;
}

/** An artifact from a finished manifest, with the locations of its parts. */
export interface Finished {
  value: WrittenArtifact;
  place(path: readonly (string | number)[]): Place;
  release: At;
}

/** A downloadable file, as one input describes it. */
export interface FoundFile {
  name: string;
  /** Candidate paths of its bytes in order of likelihood; empty if the input only describes it. */
  paths: readonly string[];
  /** The store object that contains it. */
  store?: string | undefined;
  /** The store object in which a link or a list leads to it. */
  through?: string | undefined;
  sha256?: string | undefined;
  size?: number | undefined;
  /** Hint for the package type: a row of the table, or a name of nixpkgs. */
  hint?: string | undefined;
  /** Entry of a finished manifest, which needs no rule. */
  finished?: Finished | undefined;
  at: At;
}

/** A file, with the claims of a manifest if there are any. */
export type Claimed = Pick<FoundFile, "name" | "finished" | "at">;

export interface Build {
  drv: string | undefined;
  outputs: Readonly<Record<string, string>>;
  /** True if the input declares that it was built for the release; false if it only describes a recipe. */
  wanted: boolean;
  at: At;
}

/** Nix metadata of a store object, without registrationTime and ultimate, which differ between machines. */
export interface StoreObject {
  path: string;
  /** In the notation of its input. */
  narHash: string;
  /** Size of the Nix archive, never that of the download. */
  narSize: number;
  references: readonly string[];
  signatures: readonly string[];
  deriver: string | undefined;
  at: At;
}

export interface Evidence {
  files: FoundFile[];
  builds: Build[];
  objects: StoreObject[];
  revisions: Claim<string>[];
  /** Versions of finished manifests. */
  releases: Claim<string>[];
  /** Paths of FILE.relcat.yaml among the inputs. */
  sidecars: string[];
  /** Readable descriptions of skipped inputs, with reasons. */
  leftOut: string[];
  problems: Problem[];
}

export function gather(parts: readonly Partial<Evidence>[]): Evidence {
  const all = <K extends keyof Evidence>(key: K) =>
    parts.flatMap((part): Evidence[K][number][] => part[key] ?? []) as Evidence[K];
  return {
    files: all("files"),
    builds: all("builds"),
    objects: all("objects"),
    revisions: all("revisions"),
    releases: all("releases"),
    sidecars: all("sidecars"),
    leftOut: all("leftOut"),
    problems: all("problems"),
  };
}

export const wholeFile =
  (file: string): At =>
  () => ({ file, line: 1, column: 1 });

export const problem = (code: Code, at: At, message: string, hint: string): Problem =>
  error(code, at(), message, hint);

const oneBuild = "The inputs of one run must come from one build.";

/** Each different value is a problem at its location. The result never depends on the order of inputs. */
export function agree<T>(
  what: string,
  claims: readonly Claim<T>[],
  problems: Problem[],
  hint = oneBuild,
): Claim<T> | undefined {
  const [first, ...others] = [...claims].sort((a, b) => byKind(a.at, b.at) || byPlace(a.at, b.at));
  if (!first) return undefined;
  for (const { value, at } of others.filter((other) => other.value !== first.value)) {
    const { file, line } = first.at();
    const message = `${what} is ${value} here, but ${first.value} in ${hasLines(first.at) ? `${file}:${line}` : file}`;
    problems.push(problem("ingest-conflict", at, message, hint));
  }
  return first;
}

/** Downloadable files have no lines. */
const hasLines = (at: At): boolean => at().excerpt !== undefined;

const byKind = (a: At, b: At): number => Number(hasLines(a)) - Number(hasLines(b));

export function byPlace(a: At, b: At): number {
  const [x, y] = [a(), b()];
  return x.file === y.file ? x.line - y.line || x.column - y.column : x.file < y.file ? -1 : 1;
}
