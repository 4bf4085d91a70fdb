import type { Code, Place, Problem } from "../../shared/errors.ts";
import type { PackageType } from "../../shared/package-types.ts";
import type { Path } from "../../shared/source.ts";
import type { Settings } from "../documents/config.ts";
import type { WrittenArtifact } from "../documents/manifest.ts";
import type { ParsedRelease } from "../project/parse.ts";

export interface ArtifactInRelease {
  artifact: WrittenArtifact;
  file: string;
  /** undefined: an unknown package type, which another rule reports. */
  type: PackageType | undefined;
  version: string;
  release: ParsedRelease;
  config: Settings;
  /** For rules that refuse only what is new, because a cut record can no longer be renamed. */
  ledgerState(): LedgerState;
  /** Location of a field; [] is the artifact itself. */
  place(path: Path, part?: "key" | "value"): Place;
}

/** new: not in the ledger; cut: in it; withdrawn: cut and retracted. */
export type LedgerState = "new" | "cut" | "withdrawn";

export type ArtifactRule = (context: ArtifactInRelease) => Iterable<Problem>;
export type ReleaseRule = (release: ParsedRelease, config: Settings) => Iterable<Problem>;

export function error(code: Code, at: Place, message: string, hint: string): Problem {
  return { code, severity: "error", message, hint, at };
}

export function warning(code: Code, at: Place, message: string, hint: string): Problem {
  return { code, severity: "warning", message, hint, at };
}
