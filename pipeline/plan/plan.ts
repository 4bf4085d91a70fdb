import { throwErrors } from "../../shared/errors.ts";
import type { Plan } from "../documents/plan.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { type Cut, decideCut, refuseUnknownVersions } from "../ledger/cut.ts";
import { digest } from "../ledger/ledger.ts";
import { loadCatalog } from "../ledger/load-catalog.ts";
import { eventTime } from "../project/event-time.ts";
import { feedGapProblems, newFeedGaps } from "../site/feeds/feed-gaps.ts";
import { readSchemas, readTemplates } from "../site/stores/templates.ts";
import { afterCut, type CutReleases, hashDocuments } from "./after-cut.ts";
import type { Baseline, DocumentHashes } from "./baseline.ts";
import { compareFeeds } from "./compare-feeds.ts";
import { compareRecords } from "./compare-records.ts";
import { compareReleases } from "./compare-releases.ts";
import { contentDigests, planDigest } from "./digest.ts";
import { forbiddenChanges, isForbidden, refuseForeign } from "./forbidden.ts";
import { problemRow } from "./problem-row.ts";
import { type BaselineRequest, readBaseline } from "./read-baseline.ts";
import { type Refused, refusedArtifacts, refusedRows } from "./refused.ts";
import {
  compareDocuments,
  configurationRows,
  countPrivate,
  describeBaseline,
  ledgerStates,
  missingRows,
  removedRows,
  renamedKeys,
  revisedRows,
} from "./sections.ts";
import { snapshotOf } from "./snapshot.ts";

export interface PlanRequest extends BaselineRequest {
  /** Folder with the artifacts to inspect again; default: the results recorded at ingest. */
  artifacts?: string | undefined;
  /** Versions from the command line; undefined: every release. */
  versions?: readonly string[] | undefined;
  /** Compare the site's files too, which takes as long as two builds. */
  documents: boolean;
}

/** The plan that `plan` prints, and the ledger lines that `cut` writes. */
export interface Decided {
  plan: Plan;
  cut: Cut;
  catalog: Catalog;
  refused: Refused;
}

/**
 * Plans what publishing would change and which lines a cut would write. Writes nothing.
 * @throws RelcatError with every problem, if a plan cannot contain one of them
 */
export async function planCatalog(
  folder: string,
  request: PlanRequest,
  time: { clock: number; explicitTime?: { name: string; value: string } | undefined },
): Promise<Decided> {
  const { versions } = request;
  const catalog = await loadCatalog(folder, { versions });
  refuseUnknownVersions(catalog, versions);
  const problems = [...catalog.problems, ...feedGapProblems(catalog)];
  if (problems.some((problem) => !isForbidden(problem) && problem.severity === "error")) {
    throwErrors(problems);
  }
  const cut = decideCut(catalog, eventTime(time.clock, time.explicitTime, catalog.ledger.newest));
  const sources = request.documents
    ? { templates: await readTemplates(), schemas: await readSchemas() }
    : undefined;
  const baseline = await readBaseline(catalog, request, sources);
  refuseForeign(catalog, baseline);
  const after = afterCut(catalog, cut);
  const documents = sources && baseline.documents ? hashDocuments(after, sources) : undefined;
  const refused = await refusedArtifacts(catalog, cut, request.artifacts, time.clock);
  const plan = decidePlan({ catalog, cut, refused }, baseline, after, documents, versions);
  return { plan, cut, catalog, refused };
}

/** A pure function of two catalog states. */
function decidePlan(
  { catalog, cut, refused }: Omit<Decided, "plan">,
  baseline: Baseline,
  after: CutReleases,
  documents: DocumentHashes | undefined,
  versions?: readonly string[],
): Plan {
  const { ledger, config } = catalog;
  const snapshot = snapshotOf(after.releases, after.ledger, config);
  const changes = compareRecords(baseline, { snapshot, config, stateOf: ledgerStates(catalog, cut) });
  const merged = { ...changes, removed: removedRows(changes, catalog, baseline) };
  const { removed, retracted, reinstated, added, changed } = merged;
  const gaps = newFeedGaps(catalog).map(({ command: _, ...gap }) => gap);
  const dropped = catalog.problems.filter(({ code }) => code === "artifact-dropped").map(problemRow);
  const plan: Omit<Plan, "digest"> = {
    schema_version: 1,
    at: cut.at,
    versions: versions ? [...new Set(versions)].sort() : null,
    baseline: describeBaseline(baseline),
    ledger: { before: digest(ledger.text), after: digest(cut.after), next_id: after.ledger.nextId },
    lines: cut.events.filter((event) => !event.private),
    forbidden: forbiddenChanges(catalog, baseline, merged),
    refused: refusedRows(refused),
    removed,
    retracted,
    reinstated,
    added,
    revised: revisedRows(cut, snapshot, changes),
    changed,
    renamed: renamedKeys(changes, baseline, catalog),
    releases: compareReleases(baseline.snapshot, snapshot),
    feeds: compareFeeds(baseline.snapshot, snapshot),
    ...(gaps.length > 0 && { not_in_feeds: gaps }),
    configuration: configurationRows(changes, catalog),
    missing: missingRows(catalog, cut, versions),
    ...(dropped.length > 0 && { dropped }),
    documents: compareDocuments(baseline.documents, documents),
    private: countPrivate(baseline.snapshot, snapshot, cut),
    content: contentDigests(config, after.releases),
  };
  return { ...plan, digest: planDigest(plan) };
}

/** True if publishing would change anything. */
export function hasChanges(plan: Plan): boolean {
  const { added, changed, removed, retracted, reinstated, revised, renamed, releases, feeds, configuration } =
    plan;
  const lists = [
    ...[added, changed, removed, retracted, reinstated, revised, renamed, releases, feeds],
    configuration,
  ];
  const { documents, private: hidden, ledger } = plan;
  return (
    ledger.before !== ledger.after ||
    lists.some((list) => list.length > 0) ||
    hidden.added + hidden.changed + hidden.removed > 0 ||
    (documents !== null && Object.values(documents).some((paths) => paths.length > 0))
  );
}
