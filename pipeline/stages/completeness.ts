import type { Config, Expectation } from "../documents/config.ts";
import type { Problem } from "../errors.ts";
import type { IdentifiedRelease, Package } from "./assign-ids.ts";
import type { Artifact, Release } from "./normalize.ts";
import { type UsualJob, usualJob } from "./usual-job.ts";

/** The entries of `expected:` a release does not meet. A retracted artifact counts only through its replacement. */
export function missingArtifacts({ release, packages }: IdentifiedRelease, config: Config): Expectation[] {
  const live = packages.filter((candidate) => !candidate.retraction || isReplaced(candidate, packages));
  return config.expected.filter(
    (expectation) =>
      covers(expectation, release.version) &&
      !live.some(({ artifact }) => fits(artifact.content, expectation)),
  );
}

const isReplaced = ({ retraction }: Package, packages: readonly Package[]) =>
  packages.some((other) => other.id === retraction?.replaced_by && !other.retraction);

/** A bound of a month covers all versions of that month. */
const covers = ({ from, until }: Expectation, version: string) =>
  (from === undefined || version >= from) && (until === undefined || version.slice(0, until.length) <= until);

const compared = ["package_type", "min_os_version", "max_os_version", "gui_only", "headless"] as const;

const fits = (content: Artifact["content"], expectation: Expectation) =>
  compared.every((key) => expectation[key] === undefined || expectation[key] === content[key]);

/**
 * One problem per missing artifact; an error where the release is about to be cut.
 * @param releases the whole catalog, ascending by version: earlier ones tell which job brings what is missing
 */
export function completenessProblems(
  identified: IdentifiedRelease,
  releases: readonly Release[],
  config: Config,
  severity: Problem["severity"],
): Problem[] {
  const { version, folder } = identified.release;
  return missingArtifacts(identified, config).map((expectation) => ({
    code: "artifact-missing",
    severity,
    message: `${version} lacks ${describeExpectation(expectation)}, which catalog.yaml expects`,
    hint: wayOut(usualJob((content) => fits(content, expectation), version, releases)),
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
