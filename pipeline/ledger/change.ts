import { throwErrors } from "../../shared/errors.ts";
import type { LedgerEvent } from "../documents/ledger.ts";
import { type Ledger, ledgerLine, readLedger } from "./ledger.ts";

/** Lines to append, and the ledger before and after them. */
export interface LedgerChange {
  events: readonly LedgerEvent[];
  /** The whole text before and after; `after` is written only if the file still equals `before`. */
  before: string;
  after: string;
}

export function append(ledger: Ledger, events: readonly LedgerEvent[]): LedgerChange {
  const before = ledger.text();
  return { events, before, after: before + events.map(ledgerLine).join("") };
}

/**
 * Validates the new ledger before it is written, so that relcat never writes what it would refuse to read.
 */
export function throwIfUnsound(change: LedgerChange, file: string): void {
  throwErrors(readLedger({ file, text: change.after }).problems);
}
