import { posix } from "node:path";
import type { Config, IngestRule } from "../documents/config.ts";
import type { Problem } from "../errors.ts";
import { display } from "../stages/document.ts";
import { type At, problem } from "./evidence.ts";

/** The first rule of catalog.yaml's `ingest:` whose glob fits the whole file name; case counts. */
export const ruleFor = (file: string, { ingest }: Pick<Config, "ingest">): IngestRule | undefined =>
  ingest.find(({ match }) => posix.matchesGlob(file, match));

/** What a rule says of an artifact: its fields without the glob. */
export function fieldsOf({ match: _, ...fields }: IngestRule): Omit<IngestRule, "match"> {
  return fields;
}

/** Endings that leave no doubt about the package type; of a deb the OS range is left to say. */
const examples: Readonly<Record<string, string>> = {
  deb: 'package_type: deb, min_os_version: "22.04"',
  rpm: "package_type: rpm",
  msi: "package_type: msi",
  pkg: "package_type: pkg",
  tgz: "package_type: helm",
  vhdx: "package_type: hyperv",
};

/** A file no rule fits, with the line that would make one fit. */
export function unmatched(file: string, at: At, { packageTypes }: Pick<Config, "packageTypes">): Problem {
  const ending = /\.([A-Za-z0-9]{1,8})$/.exec(file)?.[1] ?? "";
  const known = examples[ending];
  const fields = known ?? "package_type: …";
  const glob = JSON.stringify(ending === "" ? file : `*.${ending}`);
  const message = `nothing says what ${display(file)} is`;
  const line = `- { match: ${glob}, ${fields} }`;
  const types = known ? "" : ` (… is one of ${[...packageTypes.keys()].join(", ")})`;
  const hint =
    `Add this line to ingest: in catalog.yaml, where ingest: may still be a comment: ${line}${types} — or give ` +
    `--set package_type=…, or write ${file}.relcat.yaml. Not for download? Leave it out of the inputs.`;
  return problem("artifact-unmatched", at, message, hint);
}
