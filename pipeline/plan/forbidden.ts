import { failure, type Place, type Problem } from "../../shared/errors.ts";
import type { ForbiddenChange, Plan } from "../documents/plan.ts";
import { bytesChanged, recordPrivate, recordVanished } from "../ledger/assign-ids.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { checkGrowth, compareGrowth } from "../ledger/growth.ts";
import { display } from "../project/display.ts";
import type { RecordChanges } from "./compare-records.ts";
import type { Baseline } from "./read-baseline.ts";
import { problemRow } from "./refused.ts";

/** Violations of published content; any other error prevents a plan. */
const forbiddenCodes: ReadonlySet<Problem["code"]> = new Set([
  "bytes-changed",
  "record-vanished",
  "record-private",
]);

export const isForbidden = ({ code, severity }: Problem): boolean =>
  severity === "error" && forbiddenCodes.has(code);

/** Compared with an unrelated catalog, every record would appear as removed. @throws RelcatError id-taken */
export function refuseForeign({ ledger, identified }: Catalog, { kind, name, snapshot, ...rest }: Baseline) {
  const live = [...snapshot.listed.values()].filter(({ row }) => !rest.provisional.has(row.version));
  const versions = new Set([
    ...ledger.versions,
    ...identified.releases.map(({ release }) => release.version),
  ]);
  const known = ({ row: { id, version } }: (typeof live)[number]) =>
    ledger.byId.has(id) ? ledger.byId.get(id)?.add.version === version : versions.has(version);
  if (kind !== "live" || live.length === 0 || live.some(known)) return;
  const amount = live.length === 1 ? "the one record" : `none of the ${live.length} records`;
  throw failure(
    "id-taken",
    `${amount} of ${name} is ${live.length === 1 ? "not " : ""}one of this catalog's: is it the right site?`,
    "Give this catalog's own site with --against. To take over the records of another catalog: relcat import.",
  );
}

/** Changes that the ledger forbids, or that only the baseline reveals. @param changes with every removed record */
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
    ...changedUnseen(changes.changed, catalog, baseline),
  ];
  return found.map(problemRow);
}

/** A plan may be public, so private records are reported without details. */
function withoutPrivateNames({ problems, ledger, identified }: Catalog): Problem[] {
  const forbidden = problems.filter(isForbidden);
  if (forbidden.length === 0) return [];
  const entries = [...ledger.byId.values()].filter((entry) => entry.private);
  const ids = new Set(entries.map(({ add }) => add.id));
  const artifacts = identified.releases
    .flatMap(({ packages }) => packages.filter(({ id }) => ids.has(id)))
    .map(({ artifact }) => artifact.place());
  const lines = entries.map(({ line }) => ({ file: ledger.file, line, column: 1 }));
  const hidden = new Set([...lines, ...artifacts].map(placeKey));
  return forbidden.map((problem) => {
    if (!problem.at || !hidden.has(placeKey(problem.at))) return problem;
    const message = "a private record with a permanent id and checksum was changed or removed";
    const hint = "relcat check names it and how to fix it.";
    return { code: problem.code, severity: "error", message, hint };
  });
}

const placeKey = ({ file, line, column }: Place) => `${file}:${line}:${column}`;

/** Removals that the ledger permits, because it never contained the record, or only as private. */
function removedUnseen(row: Plan["removed"][number], { ledger }: Catalog, baseline: Baseline): Problem[] {
  const named = { ...row, file: row.file ?? row.name };
  const entry = ledger.byId.get(row.id);
  if (!row.forbidden || (entry && !entry.private)) return [];
  return [entry ? recordPrivate(named) : recordVanished(named, baseline.name, undefined, lacksLines)];
}

const fixedFields = ["version", "package_type", "checksum"];

/** Changes that the ledger permits, because only the baseline has other content for the id. */
function changedUnseen(changed: Plan["changed"], { ledger, identified }: Catalog, baseline: Baseline) {
  const rows = changed
    .map((row) => ({ row, fixed: row.fields.filter(({ field }) => fixedFields.includes(field)) }))
    .filter(({ row, fixed }) => fixed.length > 0 && !baseline.provisional.has(row.version));
  if (rows.length === 0) return [];
  const packages = identified.releases.flatMap((release) => release.packages);
  const contents = new Map(packages.map(({ id, artifact }) => [id, artifact.content]));
  const common = commonLines(ledger, baseline);
  return rows.flatMap(({ row, fixed }): Problem[] => {
    const entry = ledger.byId.get(row.id);
    if (!entry) return [idTaken(row, "would be assigned to", baseline)];
    if (entry.line > common) return [];
    if (row.fields.some(({ field }) => field === "version")) return [idTaken(row, "is that of", baseline)];
    const now = contents.get(row.id);
    const isReported = now?.checksum !== entry.add.checksum || now.package_type !== entry.add.package_type;
    if (isReported) return [];
    const list = fixed.map(({ field, from, to }) => `${field} ${from} → ${to}`);
    return [bytesChanged({ ...row, file: row.file ?? row.name }, list)];
  });
}

/** Lines before the two branches parted. Ids of later lines are reported once, as diverged ledgers. */
function commonLines(ledger: Catalog["ledger"], { ledger: base }: Baseline): number {
  const growth = base === undefined ? undefined : compareGrowth(ledger, base);
  return growth?.kind === "parted" ? growth.common : Number.POSITIVE_INFINITY;
}

function idTaken(row: Plan["changed"][number], verb: string, { name }: Baseline): Problem {
  const message = `the id ${row.id} ${verb} ${display(row.file)} of ${row.version} here, but ${name} uses it for another file`;
  return { code: "id-taken", severity: "error", message, hint: lacksLines };
}

/** A record can only be withdrawn or restored if the local ledger contains it. */
const lacksLines =
  "The local ledger lacks published lines: merge the branch that published it, or import it (relcat import).";
