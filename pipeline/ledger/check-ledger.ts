import { type Problem, RelcatError } from "../../shared/errors.ts";
import { error } from "../records/report.ts";
import { isMergeUnderWay, unmergedFile } from "../system/git/git-merge.ts";
import { showFile } from "../system/git/git-revision.ts";
import type { Catalog } from "./catalog.ts";
import { checkGrowth } from "./growth.ts";
import type { Ledger } from "./ledger.ts";
import { decideRebase, findSides } from "./rebase.ts";

/**
 * No other check finds an edit that leaves a valid ledger.
 * @param revision "none": nothing to compare with
 * @throws RelcatError git-missing, git-revision
 */
export async function ledgerGrowthProblems(
  folder: string,
  ledger: Ledger,
  revision: string,
): Promise<Problem[]> {
  if (revision === "none") return [];
  return checkGrowth(ledger, await showFile(folder, revision, "ledger.jsonl"), revision);
}

/** Detects an unresolved merge: without conflict markers, the file holds one side and looks valid. */
export async function unresolvedMergeProblems({
  folder,
  ledger,
  config,
  problems,
}: Catalog): Promise<Problem[]> {
  if (problems.some(({ code }) => code === "ledger-conflict-marker") || !isMergeUnderWay(folder)) return [];
  if (!(await unmergedFile(folder, "ledger.jsonl")) || (await isJoined(folder, ledger, config.ledgerBase)))
    return [];
  const message =
    "a merge conflict is not resolved: git left one side of the ledger, without the lines of the other";
  const hint = "Run relcat ledger rebase: it keeps the base's lines and puts ours after them.";
  return [error("ledger-conflict-marker", { file: ledger.file, line: 1, column: 1 }, message, hint)];
}

async function isJoined(folder: string, ledger: Ledger, base: string): Promise<boolean> {
  try {
    const text = ledger.text();
    const { sides } = await findSides(folder, base, text);
    const { before, after } = decideRebase(sides, text, (newest) => newest);
    return before === after;
  } catch (error) {
    if (error instanceof RelcatError) return false;
    throw error;
  }
}
