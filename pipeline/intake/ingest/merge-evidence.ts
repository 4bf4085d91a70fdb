import { failure, type Problem, throwErrors } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import { agree } from "./agree.ts";
import { type Claim, type Evidence, problem } from "./evidence.ts";
import { signatureProblems } from "./formats/nix-signature.ts";
import { readSidecars, type Sidecars } from "./formats/sidecars.ts";
import { type Job, join } from "./join.ts";

/** Values from the command line. */
export interface Stated {
  release: string | undefined;
  /** Chooses the release if nothing names one. */
  openRelease?: (() => Promise<string>) | undefined;
  revision: string | undefined;
}

/** One job of one release, after merging all inputs with the stated values. */
export interface MergedEvidence {
  version: string;
  job: Job;
  sidecars: Sidecars;
  revision: string | undefined;
}

/** @throws RelcatError with every contradiction; usage without a release; input-empty */
export async function mergeEvidence(
  evidence: Evidence,
  stated: Stated,
  config: Settings,
): Promise<MergedEvidence> {
  const { job, problems } = join(evidence);
  const { sidecars, problems: sidecarProblems } = await readSidecars(evidence.sidecars, evidence.files);
  problems.push(...evidence.problems, ...sidecarProblems);
  problems.push(...signatureProblems(evidence.objects, config.trustedKeys));
  const revision = settle(
    "the revision",
    evidence.revisions,
    stated.revision,
    "--rev",
    "ingest-conflict",
    problems,
  );
  const named = settle(
    "the release",
    evidence.releases,
    stated.release,
    "--release",
    "release-mismatch",
    problems,
  );
  throwErrors(problems);
  const version = named ?? (await stated.openRelease?.());
  if (version === undefined) {
    const hint = "Say which one these artifacts belong to: --release 26.08.002.";
    throw failure("usage", "the release is not given", hint);
  }
  if (job.files.length === 0) throw nothingFound(evidence);
  return { version, job, sidecars, revision };
}

/** Uses the stated value, else that of the inputs, which must agree. */
function settle(
  what: string,
  claims: readonly Claim<string>[],
  stated: string | undefined,
  flag: string,
  code: Problem["code"],
  problems: Problem[],
): string | undefined {
  if (stated === undefined) return agree(what, claims, problems)?.value;
  for (const { value, at } of claims) {
    if (value === stated) continue;
    const message = `${what} is ${value} here, but ${stated} in ${flag}`;
    problems.push(problem(code, at, message, "Give only inputs that belong together."));
  }
  return stated;
}

function nothingFound({ leftOut }: Evidence) {
  const seen = leftOut.length > 0 ? `; left out: ${[...new Set(leftOut)].sort().join(", ")}` : "";
  const message = `no input names a file for download${seen}`;
  return failure("input-empty", message, "Give the files, an output folder, or a checksum file with --sums.");
}
