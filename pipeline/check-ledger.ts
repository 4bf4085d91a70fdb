import type { Problem } from "./errors.ts";
import { showFile } from "./outside/git.ts";
import { checkGrowth, type Ledger } from "./stages/ledger.ts";

/**
 * Proves against a git revision that the ledger only grew. Edits that keep a ledger sound in itself are found
 * in no other way.
 * @param revision "none": there is nothing to prove it against
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
