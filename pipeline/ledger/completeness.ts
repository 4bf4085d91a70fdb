import type { Config, Expectation } from "../documents/config.ts";
import type { Problem } from "../errors.ts";
import type { ArtifactOutline, OutlinedRelease } from "../records/normalize.ts";
import type { IdentifiedOutline, Package } from "./assign-ids.ts";

/** Entries of `expected:` that a release lacks. A retracted artifact counts only if it has a replacement. */
export function missingArtifacts({ release, packages }: IdentifiedOutline, config: Config): Expectation[] {
  const live = packages.filter((candidate) => !candidate.retraction || isReplaced(candidate, packages));
  return config.expected.filter(
    (expectation) =>
      covers(expectation, release.version) &&
      !live.some(({ artifact }) => fits(artifact.content, expectation)),
  );
}

type Entry = Pick<Package, "id" | "retraction">;

const isReplaced = ({ retraction }: Entry, packages: readonly Entry[]) =>
  packages.some((other) => other.id === retraction?.replaced_by && !other.retraction);

/** A month as a bound covers all its versions. */
const covers = ({ from, until }: Expectation, version: string) =>
  (from === undefined || version >= from) && (until === undefined || version.slice(0, until.length) <= until);

const compared = ["package_type", "min_os_version", "max_os_version", "gui_only", "headless"] as const;

const fits = (content: ArtifactOutline["content"], expectation: Expectation) =>
  compared.every((key) => expectation[key] === undefined || expectation[key] === content[key]);

/** A manifest of an earlier release; most builds name it after the job that wrote it. */
interface UsualJob {
  manifest: string;
  version: string;
}

/**
 * Checks releases in ascending order. Earlier releases show which job usually supplies an artifact, so a
 * message can name the job whose manifest is missing.
 */
export interface CompletenessCheck {
  /**
   * @param severity of a missing artifact, an error if the release is about to be cut; undefined: not
   * reported
   * @returns one problem per missing artifact
   */
  next(release: IdentifiedOutline, severity: Problem["severity"] | undefined): Problem[];
}

export function completenessCheck(config: Config): CompletenessCheck {
  const usual = new Map<Expectation, UsualJob>();
  return {
    next(identified, severity) {
      const problems = severity ? missingProblems(identified, config, usual, severity) : [];
      for (const expectation of config.expected) noteJob(usual, expectation, identified.release);
      return problems;
    },
  };
}

function noteJob(
  usual: Map<Expectation, UsualJob>,
  expectation: Expectation,
  release: OutlinedRelease,
): void {
  const found = release.artifacts.find(({ content }) => fits(content, expectation));
  if (!found) return;
  const manifest = found.origin.manifest.split("/").at(-1) ?? "";
  usual.set(expectation, { manifest, version: release.version });
}

function missingProblems(
  identified: IdentifiedOutline,
  config: Config,
  usual: ReadonlyMap<Expectation, UsualJob>,
  severity: Problem["severity"],
): Problem[] {
  const { version, folder } = identified.release;
  return missingArtifacts(identified, config).map((expectation) => ({
    code: "artifact-missing",
    severity,
    message: `${version} lacks ${describeExpectation(expectation)}, which catalog.yaml expects`,
    hint: wayOut(usual.get(expectation)),
    at: { file: `${folder}/manifests`, line: 1, column: 1 },
  }));
}

const wayOut = (job: UsualJob | undefined) =>
  job
    ? `In ${job.version} the manifest ${job.manifest} brought it: run that job, correct \`expected:\`, or cut with --allow-incomplete.`
    : "Add its manifest, correct `expected:`, or cut with --allow-incomplete.";

export function describeExpectation(expectation: Expectation): string {
  const details = compared
    .slice(1)
    .filter((key) => expectation[key] !== undefined)
    .map((key) => `${key}: ${JSON.stringify(expectation[key])}`);
  return [expectation.package_type, ...(details.length > 0 ? [`(${details.join(", ")})`] : [])].join(" ");
}
