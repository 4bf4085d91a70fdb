import { readFileSync } from "node:fs";

export interface Candidate {
  value: string;
  about: string;
}

export interface LedgerState {
  id: string;
  version: string;
  packageType: string;
  isRetracted: boolean;
}

/** Newest first. Only relcat's own form of lines counts, because shells expand suggested words. */
export function ledgerStates(releases: string): LedgerState[] {
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

export const liveIds = (releases: string): LedgerState[] =>
  ledgerStates(releases).filter(({ isRetracted }) => !isRetracted);

/** Longer lists are unreadable, and a few typed digits shorten them. */
const most = 100;

export function idCandidates(records: readonly LedgerState[], words: readonly string[]): Candidate[] {
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
