import { readFileSync } from "node:fs";

/** A completion word and its description. */
export interface Candidate {
  value: string;
  about: string;
}

/** A record as the ledger has it. */
export interface Standing {
  id: string;
  version: string;
  packageType: string;
  isRetracted: boolean;
}

/** The records of the ledger, newest first. Only lines in relcat's own form: shells expand what they are offered. */
export function standings(releases: string): Standing[] {
  const text = readLedger(releases);
  const withdrawals = /^\{"event":"(retract|reinstate)","id":(\d+)/gm;
  const last = new Map([...text.matchAll(withdrawals)].map(([, event, id]) => [id ?? "", event]));
  const lines = /^\{"event":"add","id":(\d+),"version":"([\d.]+)","package_type":"([a-z\d-]+)"/gm;
  return [...text.matchAll(lines)]
    .map(([, id = "", version = "", packageType = ""]) => ({
      id,
      version,
      packageType,
      isRetracted: last.get(id) === "retract",
    }))
    .reverse();
}

export const liveIds = (releases: string): Standing[] =>
  standings(releases).filter(({ isRetracted }) => !isRetracted);

/** A longer list is not readable; a few typed digits narrow it down. */
const most = 100;

export function idCandidates(records: readonly Standing[], words: readonly string[]): Candidate[] {
  const typed = /^\d+$/.exec(words.at(-1) ?? "")?.[0] ?? "";
  return records
    .filter(({ id }) => id.startsWith(typed))
    .slice(0, most)
    .map(({ id, version, packageType }) => ({ value: id, about: `${version} ${packageType}` }));
}

function readLedger(releases: string): string {
  try {
    return readFileSync(`${releases}/ledger.jsonl`, "utf8");
  } catch {
    return "";
  }
}
