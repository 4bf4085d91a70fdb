import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Host, print } from "../terminal/host.ts";

/** Words that depend on the project a shell stands in, or on this relcat. */
export type Values = "versions" | "cut-versions" | "package-types" | "schemas";

/** A word that could stand there, and what it is. */
interface Candidate {
  value: string;
  about: string;
}

/**
 * `relcat __complete`, which shells call while somebody types: loads no pipeline, reads nothing but names and the
 * ledger, and offers nothing where anything is amiss.
 * @param words the command line so far
 */
export async function complete(values: string, words: readonly string[], host: Host): Promise<number> {
  try {
    for (const { value, about } of candidates(values, words, host)) print(host, `${value}\t${about}`);
  } catch {
    // A folder that is no project, a file nobody may read: there is nothing to offer.
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

/** Those of the ledger and the folders named, newest first, with how many records they have. */
function versions(releases: string, folders: readonly string[]): Candidate[] {
  const counts = countBy(readRecords(releases).map(({ version }) => version));
  const isKnown = (version: string) => /^\d{2}\.\d{2}\.\d{3}$/.test(version);
  return [...new Set([...counts.keys(), ...folders])]
    .filter(isKnown)
    .sort()
    .reverse()
    .map((value) => ({ value, about: about(counts.get(value), "not cut") }));
}

/** The types that are in the ledger; of the version that is named already, where one is. */
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

/** Lines as relcat writes them; others are the business of `check`, and shells expand what they are offered. */
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
