import type { Problem } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import { exceptableRules } from "../../documents/exceptions.ts";
import type { Finding } from "../../ledger/exceptions.ts";
import { identity } from "../../ledger/ledger-records.ts";
import type { Artifact, Release } from "../../records/normalize.ts";
import { type Existing, type Rebuilt, rebuild, withPlanned } from "./existing.ts";
import { isImported, type ReleasePlan } from "./manifests.ts";
import { type LiveRecord, recordName } from "./read-records.ts";
import type { RecordFinding } from "./violations.ts";

/** The planned catalog, read back from the text of its files. */
export interface RebuiltCatalog {
  /** Ascending by version. */
  releases: Release[];
  /** Artifacts that this import writes, by record id. */
  byId: Map<number, Artifact>;
  /** Rule violations of records imported earlier. */
  before: Finding[];
  /** Rule violations of this import's records. */
  found: RecordFinding[];
  problems: Problem[];
}

export function rebuildCatalog(
  plans: readonly ReleasePlan[],
  records: readonly LiveRecord[],
  existing: Existing,
  config: Settings,
  configChanges: boolean,
): RebuiltCatalog {
  const catalog: RebuiltCatalog = { releases: [], byId: new Map(), before: [], found: [], problems: [] };
  const planned = new Map(plans.map((plan) => [plan.version, plan]));
  const live = new Map(records.map((record) => [record.id, record]));
  for (const version of [...new Set([...existing.releases.keys(), ...planned.keys()])].sort()) {
    const [plan, present] = [planned.get(version), existing.releases.get(version)];
    const changed = plan ? withPlanned(plan, present, existing.folder) : configChanges && present;
    const rebuilt = changed ? rebuild(changed, config) : existing.rebuilt.get(version);
    if (!rebuilt) continue;
    catalog.releases.push(rebuilt.release);
    if (plan) addPlanned(catalog, plan, rebuilt, live, existing);
    // Errors in unchanged releases are not the import's concern.
    else catalog.before.push(...rebuilt.findings.filter(isRecordError));
  }
  return catalog;
}

const isRecordError = ({ problem }: Finding) =>
  problem.severity === "error" && isImported(problem.at?.file ?? "");

function addPlanned(
  catalog: RebuiltCatalog,
  plan: ReleasePlan,
  { release, problems, findings }: Rebuilt,
  live: ReadonlyMap<number, LiveRecord>,
  { folder, ledger }: Existing,
): void {
  const ids = new Map(
    plan.manifests.map(({ name, ids }) => [`${folder}/${plan.version}/manifests/${name}`, ids]),
  );
  const recordOf = ({ at }: Problem) => live.get(ids.get(at?.file ?? "")?.[Number(at?.path?.[1])] ?? 0);
  catalog.problems.push(...problems.map((problem) => named(problem, recordOf(problem))));
  for (const finding of findings.filter(isRecordError)) {
    const record = recordOf(finding.problem);
    if (!isExceptable(finding.problem)) catalog.problems.push(named(finding.problem, record));
    else if (record) catalog.found.push({ ...finding, record });
    else catalog.before.push(finding);
  }
  for (const artifact of release.artifacts) {
    const { manifest, index } = artifact.origin;
    const known = ledger.byIdentity.get(identity(plan.version, artifact.file));
    const id = ids.get(manifest)?.[index] ?? known?.add.id;
    if (id !== undefined) catalog.byId.set(id, artifact);
  }
}

const isExceptable = ({ code }: Problem) => (exceptableRules as readonly string[]).includes(code);

/** Names the record instead of a location, because the planned file does not exist yet. */
function named(problem: Problem, record: LiveRecord | undefined): Problem {
  if (!record) return problem;
  const { at: _, ...rest } = problem;
  return { ...rest, message: `${recordName(record)}: ${problem.message}` };
}
