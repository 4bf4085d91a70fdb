import { failure } from "../errors.ts";
import { loadConfiguration } from "../project/configuration.ts";
import { branchOf } from "../system/git/git-head.ts";
import { pushHead } from "../system/git/git-push.ts";

/**
 * Pushes the commits of this checkout to the branch of `ledger.base`.
 * @param isTrial asks the remote whether it would accept a push, before anything is cut
 * @returns the name of that branch
 * @throws RelcatError usage, ledger-unpushed
 */
export async function pushBranch(releases: string, isTrial: boolean): Promise<string> {
  const { ledgerBase } = await loadConfiguration(releases, undefined);
  const [, remote, branch] = /^([^/]+)\/(.+)$/.exec(ledgerBase) ?? [];
  const here = await branchOf(releases);
  if (remote === undefined || branch === undefined || branch !== here)
    throw failure(
      "usage",
      `--push works on the branch of ${ledgerBase}, and ${here ?? "no branch"} is checked out here`,
      "Switch to that branch, or leave --push out.",
    );
  const refusal = await pushHead(releases, remote, branch, isTrial);
  if (refusal === undefined) return ledgerBase;
  throw failure(
    "ledger-unpushed",
    `git push ${remote} ${branch} was refused: ${refusal}`,
    `${isTrial ? "Nothing was cut or published." : "The cut is committed here, and nothing was published."} If a merge conflicts in the ledger: relcat ledger rebase && git add ${releases}/ledger.jsonl && git commit`,
  );
}
