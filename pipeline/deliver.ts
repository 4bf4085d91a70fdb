import { join } from "node:path";
import { buildCatalog, type Catalog, loadLedger, type Selection, type Site } from "./build.ts";
import { openBuildMemory, type Remembering } from "./build-memory.ts";
import {
  type Cut,
  type CutOptions,
  decideReinstate,
  decideRetract,
  decideUncut,
  eventTime,
  type LedgerChange,
  type RetractOptions,
  refuseCut,
  throwIfUnsound,
} from "./cut.ts";
import { type Delivery, deliverSite } from "./deliver-site.ts";
import type { Plan } from "./documents/plan.ts";
import { earlierCommit } from "./earlier-commit.ts";
import { failure, RelcatError, throwErrors } from "./errors.ts";
import { composeNote, type NewNote } from "./note-fragment.ts";
import { decideOpening, type Opening, type OpenReleaseOptions } from "./open-release.ts";
import { createFile, exists, readIfPresent, replaceDurably, requireFolder } from "./outside/files.ts";
import { listFolders, moveFile } from "./outside/folders.ts";
import { commit, requireRepository } from "./outside/git.ts";
import { showFile } from "./outside/git-revision.ts";
import { withLock } from "./outside/lock.ts";
import { refuseForeignFolder } from "./outside/site-folder.ts";
import { throwRefused } from "./plan/refused.ts";
import { refuseOtherLedger, refuseStale } from "./plan/stale.ts";
import { type Decided, type PlanRequest, planCatalog } from "./plan.ts";
import { ledgerMark } from "./publish/ledger-mark.ts";
import { loadConfig, requireVersions } from "./show-release.ts";
import { discover } from "./stages/discover.ts";
import type { Ledger } from "./stages/ledger.ts";
import { type StarterFile, starterFiles } from "./starter.ts";

/** What the commands take from the process they run in. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  clock: number;
  pid: number;
  /** Undefined: a build neither uses what earlier ones left nor leaves anything. */
  remembering?: Remembering | undefined;
  /** A time the user gave instead of the clock's, and what gave it (--now, SOURCE_DATE_EPOCH). */
  explicitTime?: { name: string; value: string } | undefined;
  /** Called once when another relcat holds the folder; 0 when its process id is not known. */
  onWait: (holder: number) => void;
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
  const { remembering } = surroundings;
  const memory =
    earlier || !remembering
      ? undefined
      : openBuildMemory(folder, out, selection.site, surroundings, remembering);
  const { site, catalog } = await buildCatalog(folder, selection, earlier?.files, memory?.remember);
  const delivery = await withLock(out, surroundings.pid, surroundings.onWait, async () => {
    const delivered = await deliverSite(site, out, memory, {
      clock: surroundings.clock,
      at: earlier?.commit,
      ledger: ledgerMark(today ?? catalog.ledger),
    });
    memory?.save();
    return delivered;
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
}

/**
 * Makes releases permanent: appends the lines of a plan to the ledger and, where asked, commits them.
 * @throws RelcatError with every problem; plan-stale; see refuseCut and throwRefused
 */
export async function cut(
  folder: string,
  request: CutRequest,
  surroundings: Surroundings,
): Promise<Decided & { commit: string | undefined }> {
  requireFolder(folder);
  if (request.commit) await requireRepository(folder);
  return withLock(folder, surroundings.pid, surroundings.onWait, async () => {
    const decided = request.plan
      ? await decideAgain(folder, request.plan, request.artifacts, surroundings)
      : await planCatalog(folder, planned(request), surroundings);
    const { plan, cut: due, catalog } = decided;
    refuseCut(catalog, due, { ...request, versions: plan.versions ?? undefined });
    throwRefused(decided.refused);
    deliverLedger(folder, due);
    const done = request.commit ? await commitCut(folder, [...due.events, ...plan.lines]) : undefined;
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

async function commitCut(folder: string, lines: Cut["events"]): Promise<string | undefined> {
  const versions = [...new Set(lines.flatMap((event) => (event.event === "add" ? [event.version] : [])))];
  const subject = versions.length > 0 ? `Cut ${versions.join(", ")}` : "Cut revisions";
  const undone =
    lines.length > 0 ? "The ledger is written; commit it by hand once git works." : "Nothing was cut.";
  return commit(folder, [".", ":(exclude).relcat-*"], subject, undone);
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
    const change = decideUncut(readLedgerNow(folder), version, settled, base);
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
  const present = readIfPresent(file);
  if ((present ? new TextDecoder().decode(present) : "") !== change.before) {
    throw failure("lock-held", `${file} was changed by something else meanwhile`, "Run the command again.");
  }
  throwIfUnsound(change, file);
  if (change.after !== change.before) replaceDurably(file, new TextEncoder().encode(change.after));
}

/**
 * Opens the next release of a month and moves the waiting notes into it. release.yaml comes last: a run that
 * is killed leaves every note in one of the two folders, and a release that `check` reports as unfinished.
 * @throws RelcatError sequence-full, usage; see decideOpening
 */
export async function openRelease(
  folder: string,
  options: OpenReleaseOptions,
  surroundings: Surroundings,
): Promise<Opening> {
  requireFolder(folder);
  return withLock(folder, surroundings.pid, surroundings.onWait, async () => {
    const { next } = await discover(folder);
    const versions = [...listFolders(folder), ...readLedgerNow(folder).versions];
    const nextNotes = next.map((path) => path.slice("next/notes/".length));
    const opening = decideOpening(
      { versions, nextNotes },
      options,
      now(surroundings),
      schemasSeenFrom(folder),
    );
    // git keeps no empty folder: without a file in it the next note would have no place.
    if (!exists(`${folder}/next/notes/.gitkeep`)) createFile(`${folder}/next/notes/.gitkeep`, "");
    for (const note of opening.notes) {
      moveFile(`${folder}/next/notes/${note}`, `${folder}/${opening.version}/notes/${note}`);
    }
    createFile(`${folder}/${opening.version}/release.yaml`, opening.releaseYaml);
    return opening;
  });
}

/**
 * Writes a note fragment under a name that is still free.
 * @param version the release it belongs to; undefined: the next one
 * @returns the file's path
 * @throws RelcatError version-unknown, usage; see composeNote
 */
export async function addNote(
  folder: string,
  note: NewNote,
  version: string | undefined,
  surroundings: Surroundings,
): Promise<string> {
  requireFolder(folder);
  if (version !== undefined) requireVersions(folder, [version]);
  const { slug, text } = composeNote(note, await loadConfig(folder), schemasSeenFrom(folder));
  return withLock(folder, surroundings.pid, surroundings.onWait, () => {
    const path = (number: number) =>
      `${folder}/${version ?? "next"}/notes/${number === 1 ? slug : `${slug}-${number}`}.yaml`;
    let number = 1;
    while (exists(path(number))) number++;
    createFile(path(number), text);
    return path(number);
  });
}

/**
 * Starts a project in a folder.
 * @param relcat the version to pin
 * @throws RelcatError file-exists, naming every file that is in the way; nothing is written then
 */
export async function init(
  folder: string,
  relcat: string,
  surroundings: Surroundings,
): Promise<StarterFile[]> {
  const files = starterFiles({ opened: now(surroundings), relcat });
  refuseExisting(folder, files);
  return withLock(join(folder, "releases"), surroundings.pid, surroundings.onWait, () => {
    refuseExisting(folder, files);
    for (const { path, text } of files) createFile(join(folder, path), text);
    return files;
  });
}

function refuseExisting(folder: string, files: readonly StarterFile[]): void {
  const taken = files.map(({ path }) => join(folder, path)).filter(exists);
  if (taken.length === 0) return;
  const hint = "Nothing was written. Move it away first, or start in another folder.";
  throw new RelcatError(
    taken.map((path) => ({
      code: "file-exists",
      severity: "error",
      message: `${path} exists already`,
      hint,
    })),
  );
}

/** The clock's time to the microsecond. */
const now = ({ clock }: Surroundings): string => eventTime(clock, undefined, "");

/** This repository brings its schemas along; a project has those of the installed package. */
export const schemasSeenFrom = (folder: string): string =>
  exists(`${folder}/../schemas/release.schema.json`) ? "schemas" : "node_modules/relcat/schemas";
