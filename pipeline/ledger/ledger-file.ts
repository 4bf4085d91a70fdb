import { failure, RelcatError, throwErrors } from "../../shared/errors.ts";
import { decodePieces } from "../../shared/source.ts";
import { type AuthoredFiles, filesIn } from "../project/authored-files.ts";
import type { Discovered } from "../project/discover.ts";
import { eventTime } from "../project/event-time.ts";
import { replaceDurably, requireFolder } from "../system/files.ts";
import { type CommandContext, withWriteLock } from "../system/lock.ts";
import { type Ledger, type LedgerChange, readLedgerPieces, restore, throwIfUnsound } from "./ledger.ts";

export interface LedgerContext extends CommandContext {
  /** Refuses a ledger that lost lines, before anything is written. Undefined: no comparison with git. */
  proveLedger?: ((ledger: Ledger, ledgerBase?: string) => Promise<void>) | undefined;
}

/** Loads the ledger of a releases folder; a missing one is empty. */
export function loadLedger(
  { folder, ledger }: Pick<Discovered, "folder" | "ledger">,
  files: AuthoredFiles = filesIn(folder),
) {
  const file = `${folder}/ledger.jsonl`;
  const bytes = ledger === undefined ? undefined : files.read(ledger);
  try {
    return readLedgerPieces(file, bytes ? decodePieces(file, bytes) : []);
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    const problems = error.problems.map((problem) => ({ ...problem, hint: restore }));
    return { ledger: readLedgerPieces(file, []).ledger, problems };
  }
}

/** @throws RelcatError folder-missing, or if the ledger is invalid */
export function readLedgerNow(folder: string): Ledger {
  requireFolder(folder);
  const { ledger, problems } = loadLedger({ folder, ledger: "ledger.jsonl" });
  throwErrors(problems);
  return ledger;
}

/** Decides a change under the lock, and delivers it. @param decide gets the time of the new lines */
export async function changeLedger<Change extends LedgerChange>(
  folder: string,
  context: CommandContext,
  decide: (ledger: Ledger, at: string) => Change | Promise<Change>,
): Promise<Change> {
  requireFolder(folder);
  return withWriteLock(folder, context, async () => {
    const ledger = readLedgerNow(folder);
    const change = await decide(ledger, eventTime(context.clock, context.explicitTime, ledger.newest));
    deliverLedger(folder, change, context.dryRun);
    return change;
  });
}

/** The lock excludes other runs of relcat but not editors, so the old text is compared again. */
export function deliverLedger(folder: string, change: LedgerChange, dryRun = false): void {
  const file = `${folder}/ledger.jsonl`;
  const present = filesIn(folder).read("ledger.jsonl");
  if ((present ? new TextDecoder().decode(present) : "") !== change.before) {
    const hint = "Run the command again.";
    throw failure("lock-held", `${file} was changed by something else in the meantime`, hint);
  }
  throwIfUnsound(change, file);
  if (change.after !== change.before && !dryRun) replaceDurably(file, new TextEncoder().encode(change.after));
}
