import type { FieldChange, LedgerState, Plan } from "../documents/plan.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { describeExpectation, missingArtifacts } from "../ledger/completeness.ts";
import type { Cut } from "../ledger/cut.ts";
import { compareGrowth } from "../ledger/growth.ts";
import type { RecordChanges } from "./compare-records.ts";
import type { Baseline, DocumentHashes } from "./read-baseline.ts";
import type { Snapshot } from "./snapshot.ts";

export const describeBaseline = ({ kind, name, commit, snapshot, problems }: Baseline): Plan["baseline"] => ({
  kind,
  name,
  commit,
  records: snapshot.listed.size,
  problems,
});

/** Ledger state of a record's content, now or after the cut. */
export function ledgerStates({ identified }: Catalog, { events }: Cut): (id: number) => LedgerState {
  const planned = new Set(events.map(({ id }) => id));
  const packages = identified.releases.flatMap((release) => release.packages);
  const revised = new Set(packages.flatMap(({ id, ledgerState }) => (ledgerState === "revised" ? [id] : [])));
  return (id) => (planned.has(id) ? "planned" : revised.has(id) ? "open" : "written");
}

/**
 * If the local ledger is behind the baseline's or has diverged, missing lines must be merged and do not count
 * as removals.
 */
export function removedRows(
  { removed }: RecordChanges,
  { ledger }: Catalog,
  baseline: Baseline,
): Plan["removed"] {
  if (baseline.ledger === undefined) return removed;
  const { kind, common } = compareGrowth(ledger, baseline.ledger);
  if (kind !== "behind" && kind !== "parted") return removed;
  return removed.filter(({ id }) => (ledger.byId.get(id)?.line ?? Number.POSITIVE_INFINITY) <= common);
}

export const revisedRows = (
  { events }: Cut,
  { listed }: Snapshot,
  { onlyRenamed }: RecordChanges,
): Plan["revised"] =>
  events.flatMap(({ event, id }) => {
    const record = event === "revise" ? listed.get(id) : undefined;
    return record ? [{ ...record.row, ...(onlyRenamed.has(id) && { cause: "wire" as const }) }] : [];
  });

const wireKeys = ["vendor", "cryptolib_post"] as const;

/** In git the configuration shows the old names with their location; live records only contain them. */
export function renamedKeys(
  { renamed }: RecordChanges,
  baseline: Baseline,
  { config }: Catalog,
): Plan["renamed"] {
  if (baseline.kind !== "live") return [];
  return wireKeys.flatMap((key) =>
    renamed[key] > 0 ? [{ from: baseline.wire[key], to: config.wire[key], records: renamed[key] }] : [],
  );
}

export function configurationRows(changes: RecordChanges, catalog: Catalog): Plan["configuration"] {
  return changes.configuration.fields.map((change) => {
    const { file, line, column } = catalog.configPlace(change.field.split("."), "key");
    return { ...change, file, line, column, records: recordsChangedBy(change, changes) };
  });
}

function recordsChangedBy({ field }: FieldChange, { changed, moved, renamed }: RecordChanges): number {
  const key = wireKeys.find((wireKey) => field === `wire.${wireKey}`);
  if (key) return renamed[key];
  return (
    (moved.get(field) ?? 0) +
    changed.filter(({ fields }) => fields.some(({ cause }) => cause === field)).length
  );
}

/** For releases that get ids, and for those that still have none. */
export function missingRows(
  { identified, ledger, config }: Catalog,
  { events }: Cut,
  versions: readonly string[] | undefined,
): Plan["missing"] {
  const due = new Set(events.flatMap((event) => (event.event === "add" ? [event.version] : [])));
  const chosen = identified.releases.filter(
    ({ release: { version } }) =>
      due.has(version) || (!ledger.versions.has(version) && (versions?.includes(version) ?? true)),
  );
  return chosen.flatMap((release) =>
    missingArtifacts(release, config).map((expectation) => ({
      version: release.release.version,
      artifact: describeExpectation(expectation),
    })),
  );
}

export function compareDocuments(
  before: DocumentHashes | undefined,
  after: DocumentHashes | undefined,
): Plan["documents"] {
  if (!before || !after) return null;
  return {
    added: [...after.keys()].filter((path) => !before.has(path)).sort(),
    changed: [...after]
      .flatMap(([path, hash]) => (before.has(path) && before.get(path) !== hash ? [path] : []))
      .sort(),
    removed: [...before.keys()].filter((path) => !after.has(path)).sort(),
  };
}

/** Private records are counted but never named. */
export function countPrivate(before: Snapshot, after: Snapshot, { events }: Cut): Plan["private"] {
  const lines = events.filter((event) => event.private);
  const old = before.hidden ?? after.hidden ?? new Map();
  const now = after.hidden ?? new Map();
  const isPublic = (id: number) => after.listed.has(id) || after.retracted.has(id);
  return {
    added: [...now.keys()].filter((id) => !old.has(id)).length,
    changed: [...now].filter(([id, content]) => old.has(id) && old.get(id) !== content).length,
    removed: [...old.keys()].filter((id) => !now.has(id) && !isPublic(id)).length,
    lines: {
      add: lines.filter(({ event }) => event === "add").length,
      revise: lines.filter(({ event }) => event === "revise").length,
    },
  };
}
