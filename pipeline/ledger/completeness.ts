import type { Problem } from "../../shared/errors.ts";
import type { ArtifactDocument } from "../../shared/package-metadata.ts";
import type { Kind } from "../../shared/package-types.ts";
import type { Expectation, Settings } from "../documents/config.ts";
import { display } from "../project/display.ts";
import { type ArtifactOutline, isPrivate, type OutlinedRelease } from "../records/normalize.ts";
import { pairFiles } from "../selection/pair-files.ts";
import type { IdentifiedOutline, Package } from "./assign-ids.ts";

/** Entries of `expected:` that a release lacks. A retracted artifact counts only if it has a replacement. */
export function missingArtifacts({ release, packages }: IdentifiedOutline, config: Settings): Expectation[] {
  const live = packages.filter((candidate) => !candidate.retraction || isReplaced(candidate, packages));
  return config.expected.filter(
    (expectation) =>
      covers(expectation, release.version) && !live.some(({ artifact }) => fits(artifact, expectation)),
  );
}

type Entry = Pick<Package, "id" | "retraction">;

const isReplaced = ({ retraction }: Entry, packages: readonly Entry[]) =>
  packages.some((other) => other.id === retraction?.replaced_by && !other.retraction);

/** A month as a bound covers all its versions. */
const covers = (expectation: Expectation, version: string) =>
  (expectation.from === undefined || version >= expectation.from) && !isOver(expectation, version);

const isOver = ({ until }: Expectation, version: string) =>
  until !== undefined && version.slice(0, until.length) > until;

const compared = ["package_type", "min_os_version", "max_os_version", "gui_only", "headless"] as const;

const fits = ({ content, arch }: ArtifactOutline, expectation: Expectation) =>
  (expectation.arch ?? arch) === arch &&
  compared.every((key) => expectation[key] === undefined || expectation[key] === content[key]);

/** For releases in ascending order: earlier ones show what a later one lacks, and which job usually supplies it. */
export function completenessCheck(config: Settings) {
  const usual = new Map<Expectation, ArtifactOutline>();
  let previous: IdentifiedOutline | undefined;
  /** @param severity of an artifact that `expected:` names, an error in a cut; undefined: nothing is reported */
  return (identified: IdentifiedOutline, severity: Problem["severity"] | undefined): Problem[] => {
    const missing = severity ? missingArtifacts(identified, config) : [];
    const problems = missing.map((each) => missingProblem(each, identified.release, usual, severity));
    if (severity) problems.push(...missingDocuments(identified, config, severity));
    // Ids are in order, so a release whose first artifact is new is not cut.
    const isOpen = identified.packages[0]?.ledgerState === "new";
    if (severity && previous && isOpen)
      problems.push(...droppedProblems(identified, previous, config, missing));
    if (!isOpen && listed(identified).length > 0) previous = identified;
    for (const expectation of config.expected) {
      const found = identified.release.artifacts.find((artifact) => fits(artifact, expectation));
      if (found) usual.set(expectation, found);
    }
    return problems;
  };
}

/** Public artifacts that are not withdrawn. */
const listed = ({ packages }: IdentifiedOutline) =>
  packages.flatMap(({ artifact, retraction }) =>
    retraction || isPrivate(artifact.content) ? [] : [artifact],
  );

/**
 * Compares an open release with the previous one: a warning for each manifest that brought an artifact. `expected:` comes
 * first: it has reported the artifact already, or its `until` shows that the product dropped it.
 */
function droppedProblems(
  { release: { version, folder, artifacts } }: IdentifiedOutline,
  previous: IdentifiedOutline,
  { expected }: Settings,
  reported: readonly Expectation[],
): Problem[] {
  const before = previous.release.version;
  const isStated = (artifact: ArtifactOutline) =>
    expected.some((each) => fits(artifact, each) && (reported.includes(each) || isOver(each, version)));
  const dropped = pairFiles(listed(previous), artifacts).removed.filter((artifact) => !isStated(artifact));
  return Array.from(Map.groupBy(dropped, manifestOf), ([manifest, [first, ...others]]) => {
    const [and, it] = others.length > 0 ? [` and ${others.length} more`, "them"] : ["", "it"];
    const message = `${version} has no counterpart of ${display(first?.file ?? "")}${and} of ${before}`;
    const hint = `In ${before} the manifest ${manifest} brought ${it}: run that job, and ingest its files. If the product no longer has ${it}, cut ${version} as it is; the next release is compared with it.`;
    return { code: "artifact-dropped", severity: "warning", message, hint, at: placeOf(folder) };
  });
}

/** Only of public artifacts that are not cut: a document can be added to the others and never required. */
function missingDocuments(
  { packages }: IdentifiedOutline,
  { require, packageTypes }: Settings,
  severity: Problem["severity"],
): Problem[] {
  const needs = Object.entries(require.documents) as [ArtifactDocument["kind"], readonly Kind[]][];
  return packages.flatMap(({ artifact, ledgerState, retraction }) => {
    const { content, documentKinds = [], file, place } = artifact;
    const kind = packageTypes.get(content.package_type)?.kind;
    if (ledgerState !== "new" || retraction || isPrivate(content) || kind === undefined) return [];
    const missing = needs.filter(([each, kinds]) => kinds.includes(kind) && !documentKinds.includes(each));
    return missing.map(([each]): Problem => {
      const message = `${display(file)} has no document of the kind ${each}, which require.documents wants of every ${kind}`;
      const hint = `Put it beside the file and ingest it again, take ${kind} out of require.documents.${each}, or cut with --allow-incomplete.`;
      return { code: "artifact-missing", severity, message, hint, at: place() };
    });
  });
}

/** Most builds name the manifest after the job that writes it. */
const manifestOf = ({ origin }: ArtifactOutline) => origin.manifest.split("/").at(-1) ?? "";

function missingProblem(
  expectation: Expectation,
  { version, folder }: OutlinedRelease,
  usual: ReadonlyMap<Expectation, ArtifactOutline>,
  severity: Problem["severity"] = "warning",
): Problem {
  const found = usual.get(expectation);
  const way = found
    ? `In ${found.content.version} the manifest ${manifestOf(found)} brought it: run that job`
    : "Add its manifest";
  const message = `${version} lacks ${describeExpectation(expectation)}, which catalog.yaml expects`;
  const hint = `${way}, correct \`expected:\`, or cut with --allow-incomplete.`;
  return { code: "artifact-missing", severity, message, hint, at: placeOf(folder) };
}

const placeOf = (folder: string) => ({ file: `${folder}/manifests`, line: 1, column: 1 });

export function describeExpectation(expectation: Expectation): string {
  const details = (["arch", ...compared.slice(1)] as const)
    .filter((key) => expectation[key] !== undefined)
    .map((key) => `${key}: ${JSON.stringify(expectation[key])}`);
  return [expectation.package_type, ...(details.length > 0 ? [`(${details.join(", ")})`] : [])].join(" ");
}
