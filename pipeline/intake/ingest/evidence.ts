import type { WrittenArtifact } from "../../documents/manifest.ts";
import type { Place, Problem } from "../../errors.ts";

/** Where an input says something; looked up only when there is a problem to show. */
export type At = () => Place;

/** A value an input states, and where. */
export interface Claim<T> {
  value: T;
  at: At;
}

/** An artifact that a manifest describes already, and where each part of it stands there. */
export interface Finished {
  value: WrittenArtifact;
  place(path: readonly (string | number)[]): Place;
  /** Where the manifest says which release it is of. */
  release: At;
}

/** A file for download, as one input tells of it. */
export interface FoundFile {
  /** The file name people will download. */
  name: string;
  /** Where its bytes may lie, the likeliest first; empty when the input only describes it. */
  paths: readonly string[];
  /** The store object it is part of. */
  store?: string | undefined;
  sha256?: string | undefined;
  size?: number | undefined;
  /** What the input says of its package type: a row of the table or a name of nixpkgs. */
  hint?: string | undefined;
  /** A finished manifest's entry: it needs no rule. */
  finished?: Finished | undefined;
  at: At;
}

/** A file, and what a manifest claims of it where one does. */
export type Claimed = Pick<FoundFile, "name" | "finished" | "at">;

/** One Nix build: the recipe and what it made. */
export interface Build {
  drv: string | undefined;
  /** Output name to store path. */
  outputs: Readonly<Record<string, string>>;
  /** true where the input says that this was built for the release, false where it only describes a recipe. */
  wanted: boolean;
  at: At;
}

/** What Nix knows of a store object. Neither registrationTime nor ultimate: they differ between machines. */
export interface StoreObject {
  path: string;
  /** As its input writes it. */
  narHash: string;
  /** Size of the archive Nix would make of it; never that of a download. */
  narSize: number;
  references: readonly string[];
  signatures: readonly string[];
  deriver: string | undefined;
  at: At;
}

/** Everything that inputs say; several inputs are one story. */
export interface Evidence {
  files: FoundFile[];
  builds: Build[];
  objects: StoreObject[];
  revisions: Claim<string>[];
  /** Versions of finished manifests. */
  releases: Claim<string>[];
  /** Paths of FILE.relcat.yaml among the inputs. */
  sidecars: string[];
  /** What is not for download, and why, as people read it. */
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

/** The beginning of a file, for what is said of the whole of it. */
export const wholeFile =
  (file: string): At =>
  () => ({ file, line: 1, column: 1 });

export const problem = (code: Problem["code"], at: At, message: string, hint: string): Problem => ({
  code,
  severity: "error",
  message,
  hint,
  at: at(),
});
