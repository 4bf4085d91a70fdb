import { createHash } from "node:crypto";
import type { LedgerMark } from "../documents/site-state.ts";
import type { Ledger } from "./ledger.ts";

/** The mark of no ledger at all. */
export const noLedger: LedgerMark = { lines: 0, sha256: createHash("sha256").digest("hex") };

/** What a site may say of a ledger: how many private records there are is nobody's business. */
export function ledgerMark(ledger: Pick<Ledger, "pieces" | "publicLines">): LedgerMark {
  const hash = createHash("sha256");
  for (const piece of ledger.pieces()) hash.update(piece);
  return { lines: ledger.publicLines, sha256: hash.digest("hex") };
}

/** Whether the ledger that a mark was made of is a beginning of this one. */
export const beginsWith = (ledger: Pick<Ledger, "text">, mark: LedgerMark): boolean =>
  endOf(ledger, mark) !== undefined;

/** Lines that came after a mark; all of them where the mark is of another ledger. */
export const eventsAfter = (ledger: Pick<Ledger, "text">, mark: LedgerMark): number =>
  ledger.text.slice(endOf(ledger, mark) ?? 0).split("\n").length - 1;

/** Where the ledger ends that a mark was made of: a digest is taken after each line. */
function endOf({ text }: Pick<Ledger, "text">, mark: LedgerMark): number | undefined {
  const hash = createHash("sha256");
  for (let from = 0; ; ) {
    if (hash.copy().digest("hex") === mark.sha256) return from;
    const end = text.indexOf("\n", from) + 1;
    if (end === 0) return undefined;
    hash.update(text.slice(from, end));
    from = end;
  }
}
