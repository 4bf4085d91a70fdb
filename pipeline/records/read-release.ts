import type { Place, Problem } from "../../shared/errors.ts";
import type { Settings } from "../documents/config.ts";
import { manifestSchema } from "../documents/manifest.ts";
import type { AuthoredFiles } from "../project/authored-files.ts";
import type { ReleaseFiles } from "../project/discover.ts";
import { type ParsedRelease, readBytes, shapeRelease } from "../project/parse.ts";
import { artifactRules } from "./artifact-rules.ts";
import {
  type Artifact,
  type ArtifactOutline,
  normalizeRelease,
  type OutlinedRelease,
  type Release,
} from "./normalize.ts";
import { releaseRules } from "./release-rules.ts";
import type { LedgerState } from "./report.ts";
import { readable } from "./verbatim.ts";

/** A release that was read, checked and normalized, before it has ids. */
export interface ReadRelease<R extends OutlinedRelease = Release> {
  release: R;
  /** Files that could not be read, and conflicts between manifests. */
  problems: Problem[];
  /** Violations of rules, which an exception may accept. */
  findings: Problem[];
}

interface ReadingContext {
  folder: string;
  config: Settings;
  files: AuthoredFiles;
  standingOf(version: string, file: string): LedgerState;
}

/** A function of files, configuration and ledger lines. @param contents the bytes of `pathsOfRelease(release)` */
export function readRelease(
  release: ReleaseFiles,
  contents: readonly Uint8Array[],
  { folder, config, files, standingOf }: ReadingContext,
): ReadRelease {
  const parsed = shapeRelease(folder, release, contents);
  const { release: normalized, problems } = normalizeRelease(parsed, config);
  withPlaces(normalized.artifacts, folder, files);
  return {
    release: normalized,
    problems: [...parsed.problems, ...problems],
    findings: checkRelease(parsed, config, parsed, (file) => standingOf(parsed.version, file)),
  };
}

/** Keeps only what later builds need of a release: no data, inspections or other notes. */
export function outlineOf({ release, problems, findings }: ReadRelease): ReadRelease<OutlinedRelease> {
  const { notes: _, artifacts, ...head } = release;
  const outlines = artifacts.map(asOutline);
  return { release: { ...head, artifacts: outlines }, problems, findings };
}

const asOutline = ({
  data: _,
  verbatim: __,
  inspected: ___,
  metadata: ____,
  documents: _____,
  ...outline
}: Artifact) => outline;

/** Locates artifacts in their manifests only when a problem needs it, so that source texts do not stay in memory. */
export function withPlaces(artifacts: readonly ArtifactOutline[], root: string, files: AuthoredFiles): void {
  for (const artifact of artifacts) {
    const { origin } = artifact;
    artifact.place = () => placeOf(origin, root, files);
  }
}

function placeOf({ manifest, index }: ArtifactOutline["origin"], root: string, files: AuthoredFiles): Place {
  const bytes = files.read(manifest.slice(root.length + 1)) ?? new Uint8Array();
  const { document } = readBytes(manifest, bytes, manifestSchema);
  return document?.place(["artifacts", index]) ?? { file: manifest, line: 1, column: 1 };
}

/**
 * @param whole the complete release, if `release` is only a part of it
 * @param ledgerStateOf a file of the release; default: all are new
 */
export function checkRelease(
  release: ParsedRelease,
  config: Settings,
  whole = release,
  ledgerStateOf: (file: string) => LedgerState = () => "new",
): Problem[] {
  const problems: Problem[] = [];
  for (const rule of releaseRules) problems.push(...rule(release, config));
  for (const manifest of release.manifests) {
    for (const [index, artifact] of manifest.value.artifacts.entries()) {
      const file = artifact.file ?? artifact.name;
      const context = {
        artifact: readable(artifact, config.wire),
        file,
        type: config.packageTypes.get(artifact.package_type),
        version: release.version,
        release: whole,
        config,
        ledgerState: () => ledgerStateOf(file),
        place: (path: readonly (string | number)[], part?: "key" | "value") =>
          manifest.place(["artifacts", index, ...path], part),
      };
      for (const rule of artifactRules) for (const problem of rule(context)) problems.push(problem);
    }
  }
  return problems;
}
