import { throwErrors } from "../../shared/errors.ts";
import type { Config } from "../documents/config.ts";
import type { Note } from "../documents/note.ts";
import type { FieldChange, LedgerState, Plan, ReleaseChange } from "../documents/plan.ts";
import type { IdentifiedRelease } from "../ledger/assign-ids.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { describeExpectation, missingArtifacts } from "../ledger/completeness.ts";
import { type Cut, decideCut, refuseUnknownVersions } from "../ledger/cut.ts";
import { compareGrowth } from "../ledger/growth.ts";
import { digest } from "../ledger/ledger.ts";
import { loadCatalog } from "../ledger/load-catalog.ts";
import { eventTime } from "../project/event-time.ts";
import type { Release } from "../records/normalize.ts";
import { feedGapProblems, newFeedGaps } from "../site/feeds/feed-gaps.ts";
import { readSources } from "../site/stores/templates.ts";
import { changedLeaves, compareRecords, publicSettings, type RecordChanges } from "./compare-records.ts";
import { forbiddenChanges, isForbidden, refuseForeign } from "./forbidden.ts";
import {
  afterCut,
  type Baseline,
  type BaselineRequest,
  type CutReleases,
  type DocumentHashes,
  hashDocuments,
  readBaseline,
} from "./read-baseline.ts";
import { planDigest } from "./read-plan.ts";
import { problemRow, type Refused, refusedArtifacts, refusedRows } from "./refused.ts";
import { type FeedIndex, type ReleaseFacts, type Snapshot, snapshotOf } from "./snapshot.ts";

export interface PlanRequest extends BaselineRequest {
  /** Folder with the artifacts to inspect again; default: the results recorded at ingest. */
  artifacts?: string | undefined;
  /** Versions from the command line; undefined: every release. */
  versions?: readonly string[] | undefined;
  /** Compare the site's files too, which takes as long as two builds. */
  documents: boolean;
}

export interface Decided {
  plan: Plan;
  cut: Cut;
  catalog: Catalog;
  refused: Refused;
}

/** Writes nothing. @throws RelcatError with every problem, if a plan cannot contain one of them */
export async function planCatalog(
  folder: string,
  request: PlanRequest,
  time: { clock: number; explicitTime?: { name: string; value: string } | undefined },
): Promise<Decided> {
  const { versions } = request;
  const catalog = await loadCatalog(folder, { versions });
  refuseUnknownVersions(catalog, versions);
  const problems = [...catalog.problems, ...feedGapProblems(catalog)];
  if (problems.some((problem) => !isForbidden(problem) && problem.severity === "error"))
    throwErrors(problems);
  const cut = decideCut(catalog, eventTime(time.clock, time.explicitTime, catalog.ledger.newest));
  const sources = request.documents ? await readSources() : undefined;
  const baseline = await readBaseline(catalog, request, sources);
  refuseForeign(catalog, baseline);
  const after = afterCut(catalog, cut);
  const documents = sources && baseline.documents ? hashDocuments(after, sources) : undefined;
  const refused = await refusedArtifacts(catalog, cut, request.artifacts, time.clock);
  const plan = decidePlan({ catalog, cut, refused }, baseline, after, documents, versions);
  return { plan, cut, catalog, refused };
}

function decidePlan(
  { catalog, cut, refused }: Omit<Decided, "plan">,
  baseline: Baseline,
  after: CutReleases,
  documents: DocumentHashes | undefined,
  versions?: readonly string[],
): Plan {
  const { ledger, config } = catalog;
  const { kind, name, commit, problems } = baseline;
  const snapshot = snapshotOf(after.releases, after.ledger, config);
  const changes = compareRecords(baseline, { snapshot, config, stateOf: ledgerStates(catalog, cut) });
  const merged = { ...changes, removed: removedRows(changes, catalog, baseline) };
  const { removed, retracted, reinstated, added, changed } = merged;
  const channels = compareChannels(baseline.snapshot, snapshot);
  const gaps = newFeedGaps(catalog).map(({ command: _, ...gap }) => gap);
  const dropped = catalog.problems.filter(({ code }) => code === "artifact-dropped").map(problemRow);
  const plan: Omit<Plan, "digest"> = {
    schema_version: 1,
    at: cut.at,
    versions: versions ? [...new Set(versions)].sort() : null,
    baseline: { kind, name, commit, records: baseline.snapshot.listed.size, problems },
    ledger: { before: digest(ledger.text()), after: digest(cut.after), next_id: after.ledger.nextId },
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
    ...(channels.length > 0 && { channels }),
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
  const { added, changed, removed, retracted, reinstated, revised, renamed, releases, feeds } = plan;
  const lists = [
    ...[added, changed, removed, retracted, reinstated, revised, renamed, releases, feeds],
    ...[plan.configuration, plan.channels ?? []],
  ];
  const { documents, private: hidden, ledger } = plan;
  return (
    ledger.before !== ledger.after ||
    lists.some((list) => list.length > 0) ||
    hidden.added + hidden.changed + hidden.removed > 0 ||
    (documents !== null && Object.values(documents).some((paths) => paths.length > 0))
  );
}

/** Releases that enter or leave a channel. A list contains no information about channels. */
function compareChannels(before: Snapshot, after: Snapshot): NonNullable<Plan["channels"]> {
  if (!before.channels || !after.channels) return [];
  const old = new Map(before.channels.map((channel) => [channel.name, channel]));
  // Before a project names channels, each release is in the default one.
  const isNew = before.channels.length === 0;
  return after.channels.flatMap(({ name: channel, default: isDefault, releases }) => {
    const earlier = new Map(old.get(channel)?.releases.map((release) => [release.version, release]));
    const now = new Set(releases.map(({ version }) => version));
    const moved = releases.flatMap(({ version, halted }): NonNullable<Plan["channels"]> => {
      const was = earlier.get(version) ?? (isNew && isDefault ? { halted: null } : undefined);
      if (halted) return was?.halted ? [] : [{ channel, version, change: "halted", reason: halted.reason }];
      return was && !was.halted ? [] : [{ channel, version, change: "offered", reason: null }];
    });
    const left = [...earlier.values()].filter(({ version, halted }) => !halted && !now.has(version));
    return [
      ...moved,
      ...left.map(({ version }) => ({ channel, version, change: "left" as const, reason: null })),
    ];
  });
}

/** Indexes of package feeds that gain or lose packages. A list contains no information about feeds. */
function compareFeeds(before: Snapshot, after: Snapshot): Plan["feeds"] {
  if (!before.feeds || !after.feeds) return [];
  const old = new Map(before.feeds.map((index) => [keyOf(index), index]));
  const now = new Map(after.feeds.map((index) => [keyOf(index), index]));
  return [...new Map([...old, ...now])]
    .map(([key, { feed, index }]) => ({
      feed,
      index,
      added: rowsWithout(after, now.get(key), old.get(key)),
      removed: rowsWithout(before, old.get(key), now.get(key)),
    }))
    .filter(({ added, removed }) => added.length + removed.length > 0)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

const keyOf = ({ feed, index }: Pick<FeedIndex, "feed" | "index">): string => `${feed} ${index}`;

const rowsWithout = ({ listed }: Snapshot, some: FeedIndex | undefined, others: FeedIndex | undefined) => {
  const ids = [...(some?.ids ?? [])].filter((id) => !others?.ids.has(id)).sort((a, b) => a - b);
  return ids.flatMap((id) => listed.get(id)?.row ?? []);
};

/** Changes of dates, summaries and notes, which have no ledger lines. Ascending by version. */
function compareReleases(before: Snapshot, after: Snapshot): ReleaseChange[] {
  // A list contains no information about releases.
  if (!before.releases || !after.releases) return [];
  const versions = new Set([...before.releases.keys(), ...after.releases.keys()]);
  return [...versions].sort().flatMap((version): ReleaseChange[] => {
    const [old, now] = [before.releases?.get(version), after.releases?.get(version)];
    const fields = changedFacts(old, now);
    if (!now) return [{ version, change: "removed", date: null, fields: [] }];
    if (!old) return [{ version, change: "added", date: now.date, fields }];
    return fields.length > 0 ? [{ version, change: "changed", date: now.date, fields }] : [];
  });
}

function changedFacts(old: ReleaseFacts | undefined, now: ReleaseFacts | undefined): FieldChange[] {
  const simple = ({ date, summary }: ReleaseFacts) => ({ date, ...(summary !== null && { summary }) });
  const facts = old && now ? changedLeaves(simple(old), simple(now)) : [];
  return [...facts, ...changedNotes(old?.notes ?? [], now?.notes ?? [])];
}

/** Notes have no ids, so removed and added notes of the same component and kind are paired. */
function changedNotes(before: readonly Note[], after: readonly Note[]): FieldChange[] {
  const [gone, come] = [bySection(without(before, after)), bySection(without(after, before))];
  return [...new Set([...gone.keys(), ...come.keys()])].flatMap((field) => {
    const [from = [], to = []] = [gone.get(field), come.get(field)];
    return Array.from({ length: Math.max(from.length, to.length) }, (_, index) => ({
      field,
      ...(from[index] !== undefined && { from: from[index] }),
      ...(to[index] !== undefined && { to: to[index] }),
    }));
  });
}

/** Notes missing from the other list; duplicates are counted. */
function without(notes: readonly Note[], others: readonly Note[]): Note[] {
  const left = new Map<string, number>();
  for (const note of others) left.set(key(note), (left.get(key(note)) ?? 0) + 1);
  return notes.filter((note) => {
    const count = left.get(key(note)) ?? 0;
    left.set(key(note), count - 1);
    return count <= 0;
  });
}

const key = (note: Note) => JSON.stringify(note);

function bySection(notes: readonly Note[]): Map<string, string[]> {
  const groups = Map.groupBy(notes, ({ component, kind }) => `notes.${component}.${kind}`);
  return new Map([...groups].map(([section, group]) => [section, group.map(described)]));
}

function described({ text, refs, security }: Note): string {
  const marks = [...(security ? ["security"] : []), ...refs];
  return marks.length > 0 ? `${text} (${marks.join(", ")})` : text;
}

/** Digests of everything in the plan that affects public content, including private records. */
function contentDigests(config: Config, releases: readonly IdentifiedRelease[]): Plan["content"] {
  return {
    configuration: digest(JSON.stringify([publicSettings(config), config.expected])),
    releases: Object.fromEntries(releases.map(({ release }) => [release.version, releaseDigest(release)])),
  };
}

function releaseDigest({ version, date, summary, notes, artifacts }: Release): string {
  const files = artifacts.map(({ file, url, size, contentHash, metadata, documents }) => [
    ...[file, url, size, contentHash],
    ...(metadata || documents ? [metadata ?? null, documents ?? null] : []),
  ]);
  return digest(JSON.stringify([version, date, summary, notes, files]));
}

function ledgerStates({ identified }: Catalog, { events }: Cut): (id: number) => LedgerState {
  const planned = new Set(events.map(({ id }) => id));
  const packages = identified.releases.flatMap((release) => release.packages);
  const revised = new Set(packages.flatMap(({ id, ledgerState }) => (ledgerState === "revised" ? [id] : [])));
  return (id) => (planned.has(id) ? "planned" : revised.has(id) ? "open" : "written");
}

/** Lines that a ledger lacks because it is behind or has diverged must be merged, and do not count as removals. */
function removedRows({ removed }: RecordChanges, { ledger }: Catalog, baseline: Baseline): Plan["removed"] {
  if (baseline.ledger === undefined) return removed;
  const { kind, common } = compareGrowth(ledger, baseline.ledger);
  if (kind !== "behind" && kind !== "parted") return removed;
  return removed.filter(({ id }) => (ledger.byId.get(id)?.line ?? Number.POSITIVE_INFINITY) <= common);
}

const revisedRows = ({ events }: Cut, { listed }: Snapshot, { onlyRenamed }: RecordChanges) =>
  events.flatMap(({ event, id }) => {
    const record = event === "revise" ? listed.get(id) : undefined;
    return record ? [{ ...record.row, ...(onlyRenamed.has(id) && { cause: "wire" as const }) }] : [];
  });

const wireKeys = ["vendor", "cryptolib_post"] as const;

/** In git the configuration shows the old names with their location; live records only contain them. */
function renamedKeys({ renamed }: RecordChanges, baseline: Baseline, { config }: Catalog): Plan["renamed"] {
  if (baseline.kind !== "live") return [];
  return wireKeys.flatMap((key) =>
    renamed[key] > 0 ? [{ from: baseline.wire[key], to: config.wire[key], records: renamed[key] }] : [],
  );
}

function configurationRows(changes: RecordChanges, catalog: Catalog): Plan["configuration"] {
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
function missingRows(
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

function compareDocuments(before: DocumentHashes | undefined, after: DocumentHashes | undefined) {
  if (!before || !after) return null;
  const paths = [...after.keys()].sort();
  return {
    added: paths.filter((path) => !before.has(path)),
    changed: paths.filter((path) => before.has(path) && before.get(path) !== after.get(path)),
    removed: [...before.keys()].filter((path) => !after.has(path)).sort(),
  };
}

/** Private records are counted but never named. */
function countPrivate(before: Snapshot, after: Snapshot, { events }: Cut): Plan["private"] {
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
