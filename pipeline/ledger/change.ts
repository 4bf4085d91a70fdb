import type { LedgerEvent } from "../documents/ledger.ts";
import { throwErrors } from "../errors.ts";
import { type Ledger, ledgerLine, readLedger } from "./ledger.ts";

/** Lines to append to the ledger, and the ledger they belong after. */
export interface LedgerChange {
  events: readonly LedgerEvent[];
  /** The whole text before and after; deliver writes `after` only where `before` still stands. */
  before: string;
  after: string;
}

export function append(ledger: Ledger, events: readonly LedgerEvent[]): LedgerChange {
  return { events, before: ledger.text, after: ledger.text + events.map(ledgerLine).join("") };
}

/** Proves a decided ledger sound before it is written: relcat never writes what it would refuse to read. */
export function throwIfUnsound(change: LedgerChange, file: string): void {
  throwErrors(readLedger({ file, text: change.after }).problems);
}
