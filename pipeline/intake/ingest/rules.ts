import { posix } from "node:path";
import type { Problem } from "../../../shared/errors.ts";
import type { IngestRule, Settings } from "../../documents/config.ts";
import { display } from "../../project/display.ts";
import { type At, problem } from "./evidence.ts";

/** The first `ingest:` rule in catalog.yaml whose glob matches the file name, case-sensitively. */
export const ruleFor = (file: string, { ingest }: Pick<Settings, "ingest">): IngestRule | undefined =>
  ingest.find(({ match }) => posix.matchesGlob(file, match));

/** True if `ignore:` in catalog.yaml excludes the file. */
export const isIgnored = (file: string, { ignore }: Pick<Settings, "ignore">): boolean =>
  ignore.some((glob) => posix.matchesGlob(file, glob));

export function fieldsOf({ match: _, ...fields }: IngestRule): Omit<IngestRule, "match"> {
  return fields;
}

/** Problem of a file without a rule; `unmatchedHint` gives the hint for all of them. */
export function unmatched(file: string, at: At): Problem {
  const more = isVhd(file) ? ": azure and hyperv have the same format" : "";
  return problem("artifact-unmatched", at, `nothing says what ${display(file)} is${more}`, "");
}

/** True for a disk whose name may be that of an image for Azure or for Hyper-V. */
export const isVhd = (file: string): boolean => /\.vhd(?:\.|$)/.test(file);
