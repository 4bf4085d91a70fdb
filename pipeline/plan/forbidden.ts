import type { Catalog } from "../build.ts";
import type { ForbiddenChange, Plan } from "../documents/plan.ts";
import type { Place, Problem } from "../errors.ts";
import { bytesChanged, recordPrivate, recordVanished } from "../stages/assign-ids.ts";
import { display } from "../stages/document.ts";
import { checkGrowth } from "../stages/ledger.ts";
import type { Baseline } from "./baseline.ts";
import type { RecordChanges } from "./compare-records.ts";

/** What nobody may do to what is published; anything else that is wrong keeps a plan from being made. */
const forbiddenCodes: ReadonlySet<Problem["code"]> = new Set([
  "bytes-changed",
  "record-vanished",
  "record-private",
]);

export const isForbidden = ({ code, severity }: Problem): boolean =>
  severity === "error" && forbiddenCodes.has(code);

/**
 * Changes that must not happen: those the ledger forbids, and those that only show against the baseline.
 * @param changes with every removed record
 */
export function forbiddenChanges(
  catalog: Catalog,
  baseline: Baseline,
  changes: RecordChanges,
): ForbiddenChange[] {
  const growth =
    baseline.ledger === undefined ? [] : checkGrowth(catalog.ledger, baseline.ledger, baseline.name);
  const found = [
    ...withoutPrivateNames(catalog),
    ...growth,
    ...changes.removed.flatMap((row) => removedUnseen(row, catalog, baseline)),
    ...changes.changed.flatMap((row) => changedUnseen(row, catalog, baseline)),
  ];
  return found.map(({ code, message, hint, at }) => ({
    code,
    message,
    hint: hint ?? null,
    file: at?.file ?? null,
    line: at?.line ?? null,
    column: at?.column ?? null,
  }));
}

/** A plan may stand where everybody reads it: of private records it says only that there is something. */
function withoutPrivateNames({ problems, ledger, identified }: Catalog): Problem[] {
  const entries = [...ledger.byId.values()].filter((entry) => entry.private);
  const hidden = new Set(
    entries.map((entry) => placeKey({ file: ledger.file, line: entry.line, column: 1 })),
  );
  for (const { packages } of identified.releases) {
    for (const { id, artifact } of packages) {
      if (ledger.byId.get(id)?.private) hidden.add(placeKey(artifact.place()));
    }
  }
  return problems.filter(isForbidden).map((problem) => {
    if (!problem.at || !hidden.has(placeKey(problem.at))) return problem;
    const message = "a private record was changed or removed that has its id and checksum for good";
    return {
      code: problem.code,
      severity: "error",
      message,
      hint: "relcat check names it and the ways out.",
    };
  });
}

const placeKey = ({ file, line, column }: Place) => `${file}:${line}:${column}`;

/** What the ledger itself does not forbid: it never had the record, or had it private from the start. */
function removedUnseen(row: Plan["removed"][number], { ledger }: Catalog, baseline: Baseline): Problem[] {
  const named = { ...row, file: row.file ?? row.name };
  const entry = ledger.byId.get(row.id);
  if (!row.forbidden || (entry && !entry.private)) return [];
  return [entry ? recordPrivate(named) : recordVanished(named, baseline.name)];
}

const fixedFields = ["version", "package_type", "checksum"];

/** The ledger agrees with the manifest, but the baseline has something else under that id. */
function changedUnseen(row: Plan["changed"][number], catalog: Catalog, baseline: Baseline): Problem[] {
  const fixed = row.fields.filter(({ field }) => fixedFields.includes(field));
  if (fixed.length === 0 || baseline.provisional.has(row.version)) return [];
  const entry = catalog.ledger.byId.get(row.id);
  if (!entry) return [idTaken(row, baseline)];
  const now = catalog.identified.releases.flatMap(({ packages }) => packages).find(({ id }) => id === row.id)
    ?.artifact.content;
  const isReported = now?.checksum !== entry.add.checksum || now.package_type !== entry.add.package_type;
  if (isReported) return [];
  const list = fixed.map(({ field, from, to }) => `${field} ${from} → ${to}`);
  return [bytesChanged({ ...row, file: row.file ?? row.name }, list)];
}

function idTaken(row: Plan["changed"][number], { name }: Baseline): Problem {
  const message = `the id ${row.id} is to go to ${display(row.file)} of ${row.version}, but ${name} has it for something else`;
  const hint =
    "The ledger here lacks lines of what is published: merge the branch that published it, or import it (relcat import).";
  return { code: "id-taken", severity: "error", message, hint };
}
