import { type Code, type Problem, RelcatError } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import type { Manifest, WrittenArtifact } from "../../documents/manifest.ts";
import type { Located } from "../../project/document.ts";
import { describeFile } from "../ingest/describe.ts";
import { gather } from "../ingest/evidence.ts";
import { evidenceOf } from "../ingest/formats/finished-manifest.ts";
import { type MergedEvidence, mergeEvidence } from "../ingest/merge-evidence.ts";
import { invalid, refuseInvalid } from "./refused.ts";

/**
 * Completes a finished manifest as `ingest` would: derived fields are added, and identical duplicates are
 * merged. The caller applies the rules.
 * @returns the manifest, with locations as in `posted`
 * @throws PostRefused if its parts contradict each other
 */
export async function finishManifest(
  posted: Located<Manifest>,
  config: Settings,
): Promise<{ manifest: Located<Manifest>; problems: Problem[] }> {
  const merged = await mergedOf(posted, config);
  const names = posted.value.artifacts.map(({ file, name }) => file ?? name);
  const artifacts: WrittenArtifact[] = [];
  const positions: number[] = [];
  const problems: Problem[] = [];
  for (const file of merged.job.files) {
    const found = describeFile(file, undefined, { ...merged, config, settings: {} });
    problems.push(...found.problems.map(withOwnHint));
    if (!found.artifact) continue;
    artifacts.push(found.artifact);
    positions.push(names.indexOf(file.name));
  }
  const manifest: Located<Manifest> = {
    file: posted.file,
    value: { release: merged.version, artifacts },
    place: ([top = "", index, ...rest], part) =>
      posted.place(index === undefined ? [top] : [top, positions[Number(index)] ?? 0, ...rest], part),
  };
  return { manifest, problems };
}

async function mergedOf(posted: Located<Manifest>, config: Settings): Promise<MergedEvidence> {
  if (posted.value.artifacts.length === 0) throw invalid(["artifacts"], "This list may not be empty.");
  try {
    return await mergeEvidence(
      gather([evidenceOf(posted)]),
      { release: undefined, revision: undefined },
      config,
    );
  } catch (error) {
    if (error instanceof RelcatError) refuseInvalid(error.problems.map(withOwnHint));
    throw error;
  }
}

/** Hints for clients, where ingest's hints name command-line options. */
const waysOut: Partial<Record<Code, string>> = {
  "revision-missing": "State it as vendor.rev, or take image out of require.vendor in catalog.yaml.",
  "ingest-conflict": "One file has one description: leave one of the two out.",
};

function withOwnHint(problem: Problem): Problem {
  const hint = waysOut[problem.code];
  return hint === undefined ? problem : { ...problem, hint };
}
