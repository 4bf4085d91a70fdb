import { posix } from "node:path";
import type { Config, IngestRule } from "../../documents/config.ts";
import type { Problem } from "../../errors.ts";
import { display } from "../../project/document.ts";
import { type At, problem } from "./evidence.ts";

/** The first rule of catalog.yaml's `ingest:` whose glob fits the whole file name; case counts. */
export const ruleFor = (file: string, { ingest }: Pick<Config, "ingest">): IngestRule | undefined =>
  ingest.find(({ match }) => posix.matchesGlob(file, match));

/** Whether catalog.yaml's `ignore:` says that a file is not for download. */
export const isIgnored = (file: string, { ignore }: Pick<Config, "ignore">): boolean =>
  ignore.some((glob) => posix.matchesGlob(file, glob));

/** What a rule says of an artifact: its fields without the glob. */
export function fieldsOf({ match: _, ...fields }: IngestRule): Omit<IngestRule, "match"> {
  return fields;
}

/** A file that no rule fits; `unmatchedHint` says what to do about all of them. */
export const unmatched = (file: string, at: At): Problem =>
  problem("artifact-unmatched", at, `nothing says what ${display(file)} is`, "");

/** The lines for catalog.yaml that would make rules fit, a rule for each ending. */
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
    "For one call: --set package_type=…; for one file: FILE.relcat.yaml beside it.",
  ].join("\n");
}

function globOf(file: string): string {
  const ending = /\.([A-Za-z0-9]{1,8})$/.exec(file)?.[1];
  return ending === undefined ? file : `*.${ending}`;
}
