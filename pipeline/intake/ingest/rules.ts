import { posix } from "node:path";
import type { Config, IngestRule } from "../../documents/config.ts";
import type { Problem } from "../../errors.ts";
import { display } from "../../project/display.ts";
import { type At, problem } from "./evidence.ts";

/** The first `ingest:` rule in catalog.yaml whose glob matches the file name, case-sensitively. */
export const ruleFor = (file: string, { ingest }: Pick<Config, "ingest">): IngestRule | undefined =>
  ingest.find(({ match }) => posix.matchesGlob(file, match));

/** True if `ignore:` in catalog.yaml excludes the file. */
export const isIgnored = (file: string, { ignore }: Pick<Config, "ignore">): boolean =>
  ignore.some((glob) => posix.matchesGlob(file, glob));

export function fieldsOf({ match: _, ...fields }: IngestRule): Omit<IngestRule, "match"> {
  return fields;
}

/** Problem of a file without a rule; `unmatchedHint` gives the hint for all of them. */
export const unmatched = (file: string, at: At): Problem =>
  problem("artifact-unmatched", at, `nothing says what ${display(file)} is`, "");

/** Lines for catalog.yaml that would match the files, one rule per ending. */
export function unmatchedHint(files: readonly string[], { packageTypes, ingest, ignore }: Config): string {
  const globs = [...new Set(files.map(globOf))].map((glob) => JSON.stringify(glob));
  const rules = globs.map((glob) => `  - { match: ${glob}, package_type: … }`);
  const ignored = globs.join(", ");
  return [
    `Say in catalog.yaml what they are (… is one of ${[...packageTypes.keys()].join(", ")})` +
      `${ingest.length > 0 ? ", below ingest:" : ":"}`,
    ...(ingest.length > 0 ? [] : ["ingest:"]),
    ...rules,
    `or that they are not for download${ignore.length > 0 ? ", in ignore:" : ":"}`,
    ignore.length > 0 ? `  ${ignored}` : `ignore: [${ignored}]`,
    "For one run: --set package_type=…; for one file: FILE.relcat.yaml next to it.",
  ].join("\n");
}

function globOf(file: string): string {
  const ending = /\.([A-Za-z0-9]{1,8})$/.exec(file)?.[1];
  return ending === undefined ? file : `*.${ending}`;
}
