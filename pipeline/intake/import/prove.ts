import { type Problem, RelcatError } from "../../../shared/errors.ts";
import { assignIds, type Package } from "../../ledger/assign-ids.ts";
import type { LedgerChange } from "../../ledger/change.ts";
import { readLedger } from "../../ledger/ledger.ts";
import { publishedRecord } from "../../ledger/publish-records.ts";
import { display } from "../../project/display.ts";
import { isImported } from "./manifests.ts";
import type { Match } from "./match-records.ts";
import type { LiveRecord } from "./read-records.ts";
import type { RebuiltCatalog } from "./rebuild-catalog.ts";
import { differingFields } from "./same-json.ts";

/**
 * Builds the planned catalog in memory and compares each record with the live one.
 * @throws RelcatError import-mismatch, and violations of the ledger's rules
 */
export function prove(
  records: readonly LiveRecord[],
  match: Match,
  { releases }: RebuiltCatalog,
  change: LedgerChange,
): void {
  const { ledger, problems } = readLedger({ file: "ledger.jsonl", text: change.after });
  const identified = assignIds(releases, ledger, () => true);
  const packages = new Map(
    identified.releases.flatMap((release) => release.packages.map((entry) => [entry.id, entry])),
  );
  const forbidden = identified.problems.filter(({ at }) => at !== undefined && isImported(at.file));
  const kept = new Set(match.kept.map(({ id }) => id));
  const wrong = records
    .filter(({ id }) => !kept.has(id))
    .flatMap((record) => mismatch(record, packages.get(record.id)));
  const all = [...problems, ...forbidden, ...wrong];
  if (all.length > 0) throw new RelcatError(all);
}

function mismatch(record: LiveRecord, built: Package | undefined): Problem[] {
  const fields = built ? differingFields(record, publishedRecord(built)) : ["the whole record"];
  if (built?.ledgerState !== "cut" && fields.length === 0) fields.push("content, by the ledger");
  if (fields.length === 0) return [];
  const message = `record ${record.id} (${display(record.name)} of ${record.version}) would come out differently: ${fields.join(", ")}`;
  const hint = "Nothing was written. This is a gap in relcat: please report it with the record.";
  return [{ code: "import-mismatch", severity: "error", message, hint }];
}
