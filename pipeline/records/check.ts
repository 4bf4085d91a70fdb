import type { Problem } from "../../shared/errors.ts";
import type { Settings } from "../documents/config.ts";
import type { ParsedRelease } from "../project/parse.ts";
import { artifactRules } from "./artifact-rules.ts";
import { releaseRules } from "./release-rules.ts";
import type { LedgerState } from "./report.ts";
import { readable } from "./verbatim.ts";

/**
 * Applies all rules to a release; a pure function of its files, the configuration and what is cut.
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
