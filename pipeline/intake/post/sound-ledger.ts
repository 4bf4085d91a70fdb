import { throwErrors } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { loadLedger } from "../../ledger/ledger-file.ts";
import { filesIn, filesOf } from "../../project/authored-files.ts";

/** The last one: a server would read the same thousands of lines with every post, and answer nobody meanwhile. */
let last: { folder: string; bytes: Uint8Array; ledger: Ledger } | undefined;

/** @throws RelcatError with every problem of the ledger: one that is not sound forbids nothing reliably */
export function soundLedger(folder: string): Ledger {
  const name = "ledger.jsonl";
  const bytes = filesIn(folder).read(name) ?? new Uint8Array();
  if (last?.folder === folder && Buffer.compare(last.bytes, bytes) === 0) return last.ledger;
  const { ledger, problems } = loadLedger({ folder, ledger: name }, filesOf(new Map([[name, bytes]])));
  throwErrors(problems);
  last = { folder, bytes, ledger };
  return ledger;
}
