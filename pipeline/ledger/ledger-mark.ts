import { createHash } from "node:crypto";
import type { LedgerMark } from "../documents/site-state.ts";
import type { Ledger } from "./ledger.ts";

export const noLedger: LedgerMark = { lines: 0, sha256: createHash("sha256").digest("hex") };

/** Public description of a ledger. It counts only public lines, because the number of private records is secret. */
export function ledgerMark(ledger: Pick<Ledger, "pieces" | "publicLines">): LedgerMark {
  const hash = createHash("sha256");
  for (const piece of ledger.pieces()) hash.update(piece);
  return { lines: ledger.publicLines, sha256: hash.digest("hex") };
}

/** True if the marked ledger is a prefix of this one. */
export const beginsWith = (ledger: Pick<Ledger, "text">, mark: LedgerMark): boolean =>
  endOf(ledger.text(), mark) !== undefined;

/** Number of lines after the mark; all lines if the mark belongs to another ledger. */
export function eventsAfter(ledger: Pick<Ledger, "text">, mark: LedgerMark): number {
  const text = ledger.text();
  return text.slice(endOf(text, mark) ?? 0).split("\n").length - 1;
}

/** End of the marked ledger, found by hashing after each line. */
function endOf(text: string, mark: LedgerMark): number | undefined {
  const hash = createHash("sha256");
  for (let from = 0; ; ) {
    if (hash.copy().digest("hex") === mark.sha256) return from;
    const end = text.indexOf("\n", from) + 1;
    if (end === 0) return undefined;
    hash.update(text.slice(from, end));
    from = end;
  }
}
