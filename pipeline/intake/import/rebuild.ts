import type { Problem } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import { type Manifest, manifestSchema } from "../../documents/manifest.ts";
import { releaseSchema } from "../../documents/release.ts";
import type { Finding } from "../../ledger/exceptions.ts";
import type { Located } from "../../project/document.ts";
import { type ParsedRelease, readBytes } from "../../project/parse.ts";
import { checkRelease } from "../../records/check.ts";
import { normalizeRelease, type Release } from "../../records/normalize.ts";

/** A release in the releases folder. */
export interface ExistingRelease {
  /** Without manifests written by import. */
  parsed: ParsedRelease;
  imported: Located<Manifest>[];
}

/** A release in the form that a build reads. */
export interface Rebuilt {
  release: Release;
  /** Errors while reading or merging files. */
  problems: Problem[];
  /** Violations of record rules. */
  findings: Finding[];
}

/** Planned files of a release. */
export interface PlannedRelease {
  version: string;
  /** undefined: the file already exists. */
  releaseYaml: string | undefined;
  /** Keyed by file name inside `manifests`. */
  manifests: ReadonlyMap<string, string>;
}

export function rebuild({ parsed, imported }: ExistingRelease, config: Settings): Rebuilt {
  const whole: ParsedRelease = { ...parsed, manifests: [...parsed.manifests, ...imported] };
  const { release, problems } = normalizeRelease(whole, config);
  const findings = checkRelease(whole, config).map((problem) => ({ version: parsed.version, problem }));
  return { release, problems: [...whole.problems, ...problems], findings };
}

const encoder = new TextEncoder();

/** Parses planned files as a build parses files on disk. */
export function asExisting(
  { version, releaseYaml, manifests }: PlannedRelease,
  existing: ExistingRelease | undefined,
  root: string,
): ExistingRelease {
  const folder = `${root}/${version}`;
  const problems: Problem[] = [];
  const imported: Located<Manifest>[] = [];
  for (const [name, text] of manifests) {
    const read = readBytes(`${folder}/manifests/${name}`, encoder.encode(text), manifestSchema);
    problems.push(...read.problems);
    if (read.document) imported.push(read.document);
  }
  const parsed = existing?.parsed ?? {
    version,
    folder,
    release: undefined,
    notes: [],
    manifests: [],
    problems: [],
  };
  if (releaseYaml === undefined)
    return { parsed: { ...parsed, problems: [...parsed.problems, ...problems] }, imported };
  const read = readBytes(`${folder}/release.yaml`, encoder.encode(releaseYaml), releaseSchema);
  // The planned release.yaml solves this problem.
  const others = parsed.problems.filter(({ code }) => code !== "release-missing");
  return {
    parsed: { ...parsed, release: read.document, problems: [...others, ...read.problems, ...problems] },
    imported,
  };
}
