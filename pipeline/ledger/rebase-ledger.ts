import { filesIn } from "../project/authored-files.ts";
import { eventTime } from "../project/event-time.ts";
import { requireFolder } from "../system/files.ts";
import { isMergedIn, type Operation } from "../system/git/git-merge.ts";
import { type CommandContext, withWriteLock } from "../system/lock.ts";
import { deliverLedger } from "./ledger-file.ts";
import { decideRebase, type Rebase, type Side } from "./rebase.ts";
import { findSides } from "./rebase-sides.ts";

export interface RebasedLedger {
  rebase: Rebase;
  /** The side whose lines stayed. */
  onto: Side;
  /** The git operation that waits for the merged ledger. */
  operation: Operation["kind"] | undefined;
  /** True if the folder already contains the other side's releases. */
  isMerged: boolean;
}

/**
 * Merges the ledger with the diverged one. During a git merge or rebase, merges the two sides of the conflict.
 * @param onto git revision whose lines stay; "none": nothing is settled
 * @throws RelcatError git-missing, git-revision, rebase-conflict; see decideRebase
 */
export async function rebaseLedger(
  folder: string,
  onto: string,
  context: CommandContext,
): Promise<RebasedLedger> {
  requireFolder(folder);
  return withWriteLock(folder, context, async () => {
    const present = filesIn(folder).read("ledger.jsonl");
    const working = present ? new TextDecoder().decode(present) : "";
    const { sides, operation } = await findSides(folder, onto, working);
    const rebase = decideRebase(sides, working, (newest) =>
      eventTime(context.clock, context.explicitTime, newest),
    );
    deliverLedger(folder, rebase, context.dryRun);
    const isMerged = operation !== undefined || onto === "none" || (await isMergedIn(folder, onto));
    return { rebase, onto: sides.onto, operation: operation?.kind, isMerged };
  });
}
