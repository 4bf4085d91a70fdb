import type { Config } from "../documents/config.ts";
import type { Manifest } from "../documents/manifest.ts";
import { resolveAlias } from "../documents/package-types.ts";
import { type Problem, throwErrors } from "../errors.ts";
import { attestationOf } from "../inspect/policy/attestation.ts";
import type { FileWithNeighbours } from "../inspect/sibling-files.ts";
import { type Named, policyInspector } from "../intake/ingest/apply-policy.ts";
import { typeOfFile } from "../intake/ingest/built-in-rules.ts";
import { contradictions } from "../intake/ingest/contradictions.ts";
import { type Claimed, problem, wholeFile } from "../intake/ingest/evidence.ts";
import { evidenceOf } from "../intake/ingest/formats/finished-manifest.ts";
import type { Seen } from "../intake/ingest/measure.ts";
import { ruleFor } from "../intake/ingest/rules.ts";
import { signedFileOf } from "../intake/ingest/signed-file.ts";
import type { Located } from "../project/document.ts";
import type { NamedFile } from "./upload-plan.ts";

/** Policies and manifest that apply to the uploads. */
export interface Standard {
  config: Config;
  /** Path or URL of catalog.yaml. */
  catalog: string;
  version: string;
  /** Describes the files; without it, the rules of catalog.yaml match their names. */
  manifest: Located<Manifest> | undefined;
  /** Time at which certificates must be valid, in milliseconds since 1970. */
  clock: number;
}

/**
 * Checks files before their upload: the policy must accept them, and the manifest's claims must be true.
 * @throws RelcatError artifact-unmatched for unknown files; for signers that cannot be read
 */
export async function uploadInspector(
  files: readonly NamedFile[],
  { config, catalog, version: release, manifest, clock }: Standard,
): Promise<(file: NamedFile, opened: FileWithNeighbours) => Promise<Seen | undefined>> {
  const claimed = new Map<string, Claimed>(
    manifest && evidenceOf(manifest).files?.map((each) => [each.name, each]),
  );
  const artifacts = manifest ? manifest.value.artifacts : await namedByRules(files, config);
  const inspect = await policyInspector(config, catalog, { release, artifacts }, clock);
  return async ({ file, path }, opened) => {
    const claim = claimed.get(file) ?? { name: file, at: wholeFile(path) };
    const seen = await inspect(claim, opened);
    const stated = claim.finished?.value;
    const type = stated && config.packageTypes.get(stated.package_type);
    if (!seen || !type) return seen;
    const facts = { attestation: attestationOf(seen.inspection, stated.package_type, type) };
    const untrue = contradictions(claim, { attestation: stated.attestation }, facts, true);
    return { ...seen, problems: [...seen.problems, ...untrue] };
  };
}

/** A detached signature is not an artifact itself. @throws RelcatError artifact-unmatched */
async function namedByRules(files: readonly NamedFile[], config: Config): Promise<Named[]> {
  const problems: Problem[] = [];
  const named: Named[] = [];
  for (const { file, path } of files) {
    const type = ruleFor(file, config)?.package_type ?? (await typeOfFile(file, path));
    if (type !== undefined) named.push({ name: file, package_type: resolveAlias(type, config.packageTypes) });
    else if (signedFileOf(path, config) === undefined) problems.push(unmatched(file, path));
  }
  throwErrors(problems);
  return named;
}

const unmatched = (file: string, path: string) =>
  problem(
    "artifact-unmatched",
    wholeFile(path),
    `nothing says what ${file} is, and so which policy applies to it`,
    "Give the manifest it is in with --manifest, or add a rule to ingest: in catalog.yaml.",
  );
