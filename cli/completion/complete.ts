import { readdirSync } from "node:fs";
import { schemaNames } from "../catalog/published-schemas.ts";
import type { Host } from "../terminal/host.ts";
import { type Candidate, idCandidates, type LedgerState, ledgerStates, liveIds } from "./complete-ids.ts";

/** Completion values from the project or from this relcat. */
export type Values =
  | "versions"
  | "open-versions"
  | "cut-versions"
  | "retractable"
  | "retracted-ids"
  | "live-ids"
  | "package-types"
  | "downloads"
  | "schemas"
  | "sites"
  | "components"
  | "kinds"
  | "filters";

/**
 * Values of the project. Loads the pipeline only if it needs catalog.yaml, and suggests nothing after an error.
 * @param words the command line so far
 */
export async function complete(values: Values, words: readonly string[], host: Host): Promise<Candidate[]> {
  try {
    return await candidates(values, words, host);
  } catch {
    return []; // Not a project, or an unreadable file.
  }
}

async function candidates(values: Values, words: readonly string[], host: Host): Promise<Candidate[]> {
  const { releases } = host;
  switch (values) {
    case "versions":
      return versions(releases, readdirSync(releases));
    case "open-versions":
      return versions(releases, readdirSync(releases)).filter(
        ({ value, about: what }) => what === notCut && !words.slice(0, -1).includes(value),
      );
    case "cut-versions":
      return versions(releases, []);
    case "retractable":
      return [...versions(releases, []), ...idCandidates(liveIds(releases), words)];
    case "live-ids":
      return idCandidates(liveIds(releases), words);
    case "retracted-ids":
      return idCandidates(
        ledgerStates(releases).filter(({ isRetracted }) => isRetracted),
        words,
      );
    case "package-types":
      return packageTypes(releases, words);
    case "downloads":
      return words.some((word) => whichPattern.test(word)) ? packageTypes(releases, words) : which(releases);
    case "schemas":
      return schemas(host);
    default:
      return (await import("./complete-config.ts")).configured(values, releases);
  }
}

const notCut = "not cut";
const versionPattern = /^\d{2}\.\d{2}\.\d{3}$/;
const whichPattern = /^(latest|\d{2}\.\d{2}(\.\d{3})?)$/;

/** Versions of the ledger and of the folders, newest first, with their number of records. */
function versions(releases: string, folders: readonly string[]): Candidate[] {
  const counts = countBy(ledgerStates(releases).map(({ version }) => version));
  return [...new Set([...counts.keys(), ...folders])]
    .filter((version) => versionPattern.test(version))
    .sort()
    .reverse()
    .map((value) => ({ value, about: about(counts.get(value), notCut) }));
}

/** Values for the first argument of `download`: latest, then months and versions that are cut. */
function which(releases: string): Candidate[] {
  const cut = versions(releases, []);
  const months = [...new Set(cut.map(({ value }) => value.slice(0, 5)))];
  return [
    { value: "latest", about: "the newest release that has the type" },
    ...months.map((value) => ({ value, about: "the newest release of the month" })),
    ...cut,
  ];
}

/** Package types in the ledger, or only those of a version that the command line names. */
function packageTypes(releases: string, words: readonly string[]): Candidate[] {
  const records = ledgerStates(releases);
  const named = records.filter(({ version }) => words.includes(version));
  const counts = countBy(
    (named.length > 0 ? named : records).map(({ packageType }: LedgerState) => packageType),
  );
  return [...counts.keys()].sort().map((value) => ({ value, about: about(counts.get(value), "") }));
}

function schemas({ own }: Host): Candidate[] {
  const { documents, outputs } = schemaNames(own);
  return [...documents, ...outputs].map((value) => ({ value, about: "JSON Schema" }));
}

const about = (records: number | undefined, none: string) =>
  records === undefined ? none : `${records} ${records === 1 ? "record" : "records"} in the ledger`;

function countBy(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
