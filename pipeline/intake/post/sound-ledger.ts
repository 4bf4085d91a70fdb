import { throwErrors } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { loadLedger } from "../../ledger/ledger-file.ts";
import { filesIn, filesOf } from "../../project/authored-files.ts";

/** Cached: parsing thousands of lines for every post would block the server. */
let last: { folder: string; bytes: Uint8Array; ledger: Ledger } | undefined;

/** @throws RelcatError with every problem of the ledger, because an invalid ledger protects nothing */
export function soundLedger(folder: string): Ledger {
  const name = "ledger.jsonl";
  const bytes = filesIn(folder).read(name) ?? new Uint8Array();
  if (last?.folder === folder && Buffer.compare(last.bytes, bytes) === 0) return last.ledger;
  const { ledger, problems } = loadLedger({ folder, ledger: name }, filesOf(new Map([[name, bytes]])));
  throwErrors(problems);
  last = { folder, bytes, ledger };
  return ledger;
}
