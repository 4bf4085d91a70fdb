import { buildCatalog, type Catalog, loadLedger, type Selection, type Site } from "./build.ts";
import type { Plan } from "./documents/plan.ts";
import { failure, RelcatError, throwErrors } from "./errors.ts";
import { type BuildMemory, cacheFolder, openBuildMemory, type Remembering } from "./journal/build-memory.ts";
import type { OnCacheFailure } from "./journal/cache.ts";
import {
  type Cut,
  type CutOptions,
  decideReinstate,
  decideRetract,
  decideUncut,
  type LedgerChange,
  type RetractOptions,
  refuseCut,
  throwIfUnsound,
} from "./ledger/cut.ts";
import { earlierCommit } from "./ledger/earlier-commit.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { ledgerMark } from "./ledger/ledger-mark.ts";
import { type Decided, type PlanRequest, planCatalog } from "./plan/plan.ts";
import { throwRefused } from "./plan/refused.ts";
import { refuseOtherLedger, refuseStale } from "./plan/stale.ts";
import { filesIn } from "./project/authored-files.ts";
import { eventTime } from "./project/event-time.ts";
import { type Delivery, deliverSite } from "./site/deliver-site.ts";
import { refuseForeignFolder } from "./site/stores/site-folder.ts";
import { exists, replaceDurably, requireFolder } from "./system/files.ts";
import { commit, movedAway, requireRepository, uncommitted } from "./system/git/git.ts";
import { showFile } from "./system/git/git-revision.ts";
import { withLock, withOutputLock } from "./system/lock.ts";

/** What the commands take from the process they run in. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  clock: number;
  pid: number;
  /** Undefined: a build neither uses what earlier ones left nor leaves anything. */
  remembering?: Remembering | undefined;
  /** A time the user gave instead of the clock's, and what gave it (--now, SOURCE_DATE_EPOCH). */
  explicitTime?: { name: string; value: string } | undefined;
  /** Refuses a ledger that lost lines, before anything is written by it. Undefined: it is not compared with git. */
  proveLedger?: ((ledger: Ledger) => Promise<void>) | undefined;
  /** Called once when another relcat holds the folder; 0 when its process id is not known. */
  onWait: (holder: number) => void;
  /** Called with what keeps the cache from working; the build goes on without it. */
  onCacheFailure?: OnCacheFailure | undefined;
}

/**
 * Builds the site of `folder` into `out`. Each file is whole or not there, leaves before indexes, files
 * that the last build made and this one does not make removed, build.json last.
 * @param at commit whose files are built, under today's ledger
 * @throws RelcatError with every problem of the input; folder-not-ours; lock-held; git-revision
 */
export async function build(
  folder: string,
  out: string,
  { at, ...selection }: Selection & { at?: string | undefined },
  surroundings: Surroundings,
): Promise<{ catalog: Catalog; site: Site; delivery: Delivery }> {
  refuseForeignFolder(out, folder);
  const today = at === undefined ? undefined : readLedgerNow(folder);
  const earlier = at !== undefined && today ? await earlierCommit(folder, at, today) : undefined;
  const input = { folder, selection, earlier, today };
  const { remembering } = surroundings;
  if (earlier || !remembering) return buildWith(undefined, input, out, surroundings);
  try {
    const memory = openBuildMemory(folder, out, selection.site, surroundings, remembering);
    return await buildWith(memory, input, out, surroundings);
  } catch (error) {
    if (error instanceof RelcatError) throw error;
    // An entry that relcat did not write may have any form. What is not the cache's fault fails again.
    surroundings.onCacheFailure?.(`an entry in ${cacheFolder(folder)} cannot be used (${error})`);
    return buildWith(undefined, input, out, surroundings);
  }
}

interface BuildInput {
  folder: string;
  selection: Selection;
  earlier: Awaited<ReturnType<typeof earlierCommit>> | undefined;
  /** The ledger that counts, unless it is the files' own. */
  today: Ledger | undefined;
}

async function buildWith(
  memory: BuildMemory | undefined,
  { folder, selection, earlier, today }: BuildInput,
  out: string,
  surroundings: Surroundings,
): Promise<{ catalog: Catalog; site: Site; delivery: Delivery }> {
  const { site, catalog } = await buildCatalog(folder, selection, earlier?.files, memory?.remember);
  // An earlier commit was compared with today's ledger already.
  if (!earlier) await surroundings.proveLedger?.(catalog.ledger);
  const delivery = await withOutputLock(out, surroundings.pid, surroundings.onWait, async () => {
    try {
      const delivered = await deliverSite(site, out, memory, {
        clock: surroundings.clock,
        at: earlier?.commit,
        ledger: ledgerMark(today ?? catalog.ledger),
      });
      memory?.save();
      return delivered;
    } finally {
      memory?.end();
    }
  });
  return { catalog, site, delivery };
}

/** How to cut; with a plan, its versions and its date count. */
export interface CutRequest extends CutOptions {
  commit?: boolean;
  /** Folder with the artifacts, to look at them again; default: what was found when they were ingested counts. */
  artifacts?: string | undefined;
  /** Made earlier: exactly its lines are written, or none. */
  plan?: Plan | undefined;
  /** Compare with the settled revision too, for a plan that people read; default: with the ledger alone. */
  compare?: boolean;
  /** Called with what is about to be written; what it throws leaves the ledger as it is. */
  confirm?: ((due: Cut, catalog: Catalog) => Promise<void>) | undefined;
}

/** A commit that was made of a cut. */
export interface CutCommit {
  /** Abbreviated. */
  id: string | undefined;
  /** Other files of the folder that differ from it, relative to the folder. */
  left: string[];
}

/**
 * Makes releases permanent: appends the lines of a plan to the ledger and, where asked, commits them.
 * @throws RelcatError with every problem; plan-stale; see refuseCut and throwRefused
 */
export async function cut(
  folder: string,
  request: CutRequest,
  surroundings: Surroundings,
): Promise<Decided & { commit: CutCommit | undefined }> {
  requireFolder(folder);
  if (request.commit) await requireRepository(folder);
  return withLock(folder, surroundings.pid, surroundings.onWait, async () => {
    const decided = request.plan
      ? await decideAgain(folder, request.plan, request.artifacts, surroundings)
      : await planCatalog(folder, planned(request), surroundings);
    const { plan, cut: due, catalog } = decided;
    await surroundings.proveLedger?.(catalog.ledger);
    refuseCut(catalog, due, { ...request, versions: plan.versions ?? undefined });
    throwRefused(decided.refused);
    await request.confirm?.(due, catalog);
    deliverLedger(folder, due);
    const lines = [...due.events, ...plan.lines];
    const done = request.commit ? await commitCut(folder, lines, plan.versions ?? [], catalog) : undefined;
    return { ...decided, commit: done };
  });
}

const planned = ({ versions, artifacts, compare = false }: CutRequest): PlanRequest => ({
  versions,
  artifacts,
  documents: compare,
  ledger: compare ? "instead-of-failing" : "only",
});

/** Decided a second time from what is there now: only what comes out the same is what people saw. */
async function decideAgain(
  folder: string,
  plan: Plan,
  artifacts: string | undefined,
  surroundings: Surroundings,
): Promise<Decided> {
  refuseOtherLedger(plan, readLedgerNow(folder).text);
  const time = { clock: surroundings.clock, explicitTime: { name: "the plan", value: plan.at } };
  const versions = plan.versions ?? undefined;
  const request: PlanRequest = { versions, artifacts, documents: false, ledger: "only" };
  const fresh = await planCatalog(folder, request, time);
  refuseStale(plan, fresh.plan);
  // Whether artifacts are refused is asked of today, and of the folder that is given now.
  return { ...fresh, plan: { ...plan, refused: fresh.plan.refused } };
}

/** Commits the ledger and the folders of what was cut, with the notes that moved into them, and nothing else. */
async function commitCut(
  folder: string,
  lines: Cut["events"],
  chosen: readonly string[],
  { ledger }: Catalog,
): Promise<CutCommit> {
  const versions = new Set(lines.flatMap((event) => (event.event === "add" ? [event.version] : [])));
  const subject = versions.size > 0 ? `Cut ${[...versions].join(", ")}` : "Cut revisions";
  const revised = lines.flatMap((event) => ledger.byId.get(event.id)?.add.version ?? []);
  const folders = [...new Set([...versions, ...revised, ...chosen])].sort();
  const undone =
    lines.length > 0 ? "The ledger is written; commit it by hand once git works." : "Nothing was cut.";
  const moved = await movedAway(folder, "next/notes", (name) =>
    // biome-ignore lint/plugin: checked versions and notes that the folder itself has.
    folders.some((version) => exists(`${folder}/${version}/notes/${name}`)),
  );
  // biome-ignore lint/plugin: checked versions.
  const present = ["ledger.jsonl", ...folders].filter((path) => exists(`${folder}/${path}`));
  // An exclusion alone would mean everything else.
  const id =
    present.length === 0
      ? undefined
      : await commit(folder, [...present, ":(exclude).relcat-*"], subject, undone, moved);
  return { id, left: await uncommitted(folder) };
}

/** Appends the lines that withdraw records. */
export async function retract(
  folder: string,
  options: RetractOptions,
  surroundings: Surroundings,
): Promise<LedgerChange> {
  return changeLedger(folder, surroundings, (ledger, at) => decideRetract(ledger, options, at));
}

/** Appends the lines that undo retractions. */
export async function reinstate(
  folder: string,
  ids: readonly number[],
  surroundings: Surroundings,
): Promise<LedgerChange> {
  return changeLedger(folder, surroundings, (ledger, at) => decideReinstate(ledger, ids, at));
}

/**
 * Takes the last cut back while nobody has it.
 * @param base git revision whose lines are settled; "none": nothing is
 */
export async function uncut(
  folder: string,
  version: string,
  base: string,
  surroundings: Surroundings,
): Promise<LedgerChange> {
  requireFolder(folder);
  return withLock(folder, surroundings.pid, surroundings.onWait, async () => {
    const settled = base === "none" ? "" : await showFile(folder, base, "ledger.jsonl");
    const ledger = readLedgerNow(folder);
    await surroundings.proveLedger?.(ledger);
    const change = decideUncut(ledger, version, settled, base);
    deliverLedger(folder, change);
    return change;
  });
}

async function changeLedger(
  folder: string,
  surroundings: Surroundings,
  decide: (ledger: Ledger, at: string) => LedgerChange,
): Promise<LedgerChange> {
  requireFolder(folder);
  return withLock(folder, surroundings.pid, surroundings.onWait, () => {
    const ledger = readLedgerNow(folder);
    const change = decide(ledger, eventTime(surroundings.clock, surroundings.explicitTime, ledger.newest));
    deliverLedger(folder, change);
    return change;
  });
}

/** @throws RelcatError when the ledger is not sound */
export function readLedgerNow(folder: string): Ledger {
  const { ledger, problems } = loadLedger({ folder, ledger: "ledger.jsonl" });
  throwErrors(problems);
  return ledger;
}

/**
 * Replaces the ledger in one durable step. It was decided on what was read under the same lock; that the
 * text still stands is checked all the same.
 */
export function deliverLedger(folder: string, change: LedgerChange): void {
  const file = `${folder}/ledger.jsonl`;
  const present = filesIn(folder).read("ledger.jsonl");
  if ((present ? new TextDecoder().decode(present) : "") !== change.before) {
    throw failure("lock-held", `${file} was changed by something else meanwhile`, "Run the command again.");
  }
  throwIfUnsound(change, file);
  if (change.after !== change.before) replaceDurably(file, new TextEncoder().encode(change.after));
}
