import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Host, print } from "../terminal/host.ts";

/** Values that depend on the project or on this version of relcat. */
export type Values = "versions" | "cut-versions" | "package-types" | "schemas";

/** A suggestion with its description. */
interface Candidate {
  value: string;
  about: string;
}

/**
 * `relcat __complete`, called by shells during typing: it loads no pipeline, reads only names and the ledger,
 * and suggests nothing on any error.
 * @param words the command line so far
 */
export async function complete(values: string, words: readonly string[], host: Host): Promise<number> {
  try {
    for (const { value, about } of candidates(values, words, host)) print(host, `${value}\t${about}`);
  } catch {
    // Not a project, or an unreadable file: no suggestions.
  }
  return 0;
}

function candidates(values: string, words: readonly string[], host: Host): Candidate[] {
  switch (values) {
    case "versions":
      return versions(host.releases, readdirSync(host.releases));
    case "cut-versions":
      return versions(host.releases, []);
    case "package-types":
      return packageTypes(host.releases, words);
    case "schemas":
      return schemas(host);
    default:
      return [];
  }
}

/** Versions from the ledger and the folders, newest first, with their number of records. */
function versions(releases: string, folders: readonly string[]): Candidate[] {
  const counts = countBy(readRecords(releases).map(({ version }) => version));
  const isKnown = (version: string) => /^\d{2}\.\d{2}\.\d{3}$/.test(version);
  return [...new Set([...counts.keys(), ...folders])]
    .filter(isKnown)
    .sort()
    .reverse()
    .map((value) => ({ value, about: about(counts.get(value), "not cut") }));
}

/** Package types in the ledger, restricted to the version in the command line if there is one. */
function packageTypes(releases: string, words: readonly string[]): Candidate[] {
  const records = readRecords(releases);
  const named = records.filter(({ version }) => words.includes(version));
  const counts = countBy((named.length > 0 ? named : records).map(({ packageType }) => packageType));
  return [...counts.keys()].sort().map((value) => ({ value, about: about(counts.get(value), "") }));
}

const schemas = ({ own }: Host): Candidate[] =>
  readdirSync(join(own.folder, "schemas"))
    .filter((file) => file.endsWith(".schema.json"))
    .map((file) => ({ value: file.slice(0, -".schema.json".length), about: "JSON Schema" }));

const about = (records: number | undefined, none: string) =>
  records === undefined ? none : `${records} ${records === 1 ? "record" : "records"} in the ledger`;

function countBy(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** Only well-formed lines: shells expand suggestions, so other text is unsafe. */
function readRecords(releases: string): { version: string; packageType: string }[] {
  const line = /^\{"event":"add","id":\d+,"version":"([\d.]+)","package_type":"([a-z\d-]+)"/gm;
  return [...readLedger(releases).matchAll(line)].map(([, version = "", packageType = ""]) => ({
    version,
    packageType,
  }));
}

function readLedger(releases: string): string {
  try {
    return readFileSync(`${releases}/ledger.jsonl`, "utf8");
  } catch {
    return "";
  }
}
