import { buildCatalog, type Catalog, loadCatalog, loadLedger, type Selection, type Site } from "./build.ts";
import { type Cut, type CutOptions, decideCut, decideReinstate, decideRetract, decideUncut, eventTime, type LedgerChange, type RetractOptions, throwIfUnsound, versionUnknown } from "./cut.ts";
import type { BuildDocument } from "./documents/site.ts";
import { failure, RelcatError, throwErrors } from "./errors.ts";
import { composeNote, type NewNote } from "./note-fragment.ts";
import { decideOpening, type Opening, type OpenReleaseOptions } from "./open-release.ts";
import { createFile, exists, readIfPresent, replaceDurably, requireFolder } from "./outside/files.ts";
import { isFolder, listFolders, moveFile } from "./outside/folders.ts";
import { commit, showFile } from "./outside/git.ts";
import { withLock } from "./outside/lock.ts";
import { openSiteFolder, refuseForeignFolder } from "./outside/site-folder.ts";
import { loadConfig } from "./show-release.ts";
import { discover } from "./stages/discover.ts";
import type { Ledger } from "./stages/ledger.ts";
import { type StarterFile, starterFiles } from "./starter.ts";

/** What the commands take from the process they run in. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  clock: number;
  pid: number;
  /** A time the user gave instead of the clock's, and what gave it (--now, SOURCE_DATE_EPOCH). */
  explicitTime?: { name: string; value: string } | undefined;
  /** Called once when another relcat holds the folder; 0 when its process id is not known. */
  onWait: (holder: number) => void;
}

/** What a build changed in its folder. */
export interface Delivery {
  written: number;
  unchanged: number;
  removed: number;
  bytes: number;
}

/**
 * Builds the site of `folder` into `out`. Each file is whole or not there, leaves before indexes, files
 * that the last build made and this one does not make removed, build.json last.
 * @throws RelcatError with every problem of the input; folder-not-ours; lock-held
 */
export async function build(
  folder: string,
  out: string,
  selection: Selection,
  surroundings: Surroundings,
): Promise<{ catalog: Catalog; site: Site; delivery: Delivery }> {
  refuseForeignFolder(out);
  const { site, catalog } = await buildCatalog(folder, selection);
  const delivery = await withLock(out, surroundings.pid, surroundings.onWait, () => deliverSite(site, out, surroundings.clock));
  return { catalog, site, delivery };
}

function deliverSite(site: Site, out: string, clock: number): Delivery {
  const target = openSiteFolder(out, clock);
  const files: BuildDocument["files"] = {};
  for (const file of site.files) files[file.path] = target.put(file);
  // Only now does nothing link to them any more.
  const removed = target.removeAllBut(files);
  const document: BuildDocument = {
    schema_version: 1,
    base_url: site.config.baseUrl,
    provisional: site.provisional,
    files: Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  target.finish(`${JSON.stringify(document)}\n`);
  return { ...target.counts, removed };
}

/**
 * Makes releases permanent: appends their lines to the ledger and, where asked, commits them.
 * @throws RelcatError with every problem; see decideCut
 */
export async function cut(
  folder: string,
  options: CutOptions & { commit?: boolean },
  surroundings: Surroundings,
): Promise<{ cut: Cut; catalog: Catalog; commit: string | undefined }> {
  requireFolder(folder);
  return withLock(folder, surroundings.pid, surroundings.onWait, async () => {
    const catalog = await loadCatalog(folder, { versions: options.versions });
    const at = eventTime(surroundings.clock, surroundings.explicitTime, catalog.ledger.newest);
    const decided = decideCut(catalog, at, options);
    deliverLedger(folder, decided);
    const done = options.commit ? await commitCut(folder, decided) : undefined;
    return { cut: decided, catalog, commit: done };
  });
}

async function commitCut(folder: string, { events }: Cut): Promise<string | undefined> {
  const versions = [...new Set(events.flatMap((event) => (event.event === "add" ? [event.version] : [])))];
  const subject = versions.length > 0 ? `Cut ${versions.join(", ")}` : "Cut revisions";
  return commit(folder, ["."], subject);
}

/** Appends the lines that withdraw records. */
export async function retract(folder: string, options: RetractOptions, surroundings: Surroundings): Promise<LedgerChange> {
  return changeLedger(folder, surroundings, (ledger, at) => decideRetract(ledger, options, at));
}

/** Appends the lines that undo retractions. */
export async function reinstate(folder: string, ids: readonly number[], surroundings: Surroundings): Promise<LedgerChange> {
  return changeLedger(folder, surroundings, (ledger, at) => decideReinstate(ledger, ids, at));
}

/**
 * Takes the last cut back while nobody has it.
 * @param base git revision whose lines are settled; "none": nothing is
 */
export async function uncut(folder: string, version: string, base: string, surroundings: Surroundings): Promise<LedgerChange> {
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
function deliverLedger(folder: string, change: LedgerChange): void {
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
export async function openRelease(folder: string, options: OpenReleaseOptions, surroundings: Surroundings): Promise<Opening> {
  requireFolder(folder);
  return withLock(folder, surroundings.pid, surroundings.onWait, async () => {
    const { next } = await discover(folder);
    const versions = [...listFolders(folder), ...readLedgerNow(folder).versions];
    const nextNotes = next.map((path) => path.slice("next/notes/".length));
    const opening = decideOpening({ versions, nextNotes }, options, now(surroundings), schemasSeenFrom(folder));
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
  if (version !== undefined && !isFolder(`${folder}/${version}`)) throw new RelcatError([versionUnknown(version, folder)]);
  const { slug, text } = composeNote(note, await loadConfig(folder), schemasSeenFrom(folder));
  return withLock(folder, surroundings.pid, surroundings.onWait, () => {
    const path = (number: number) => `${folder}/${version ?? "next"}/notes/${number === 1 ? slug : `${slug}-${number}`}.yaml`;
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
export async function init(folder: string, relcat: string, surroundings: Surroundings): Promise<StarterFile[]> {
  const files = starterFiles({ opened: now(surroundings), relcat });
  refuseExisting(folder, files);
  return withLock(`${folder}/releases`, surroundings.pid, surroundings.onWait, () => {
    refuseExisting(folder, files);
    for (const { path, text } of files) createFile(`${folder}/${path}`, text);
    return files;
  });
}

function refuseExisting(folder: string, files: readonly StarterFile[]): void {
  const taken = files.map(({ path }) => `${folder}/${path}`).filter(exists);
  if (taken.length === 0) return;
  const hint = "Nothing was written. Move it away first, or start in another folder.";
  throw new RelcatError(
    taken.map((path) => ({ code: "file-exists", severity: "error", message: `${path} exists already`, hint })),
  );
}

/** The clock's time to the microsecond. */
const now = ({ clock }: Surroundings): string => eventTime(clock, undefined, "");

/** This repository brings its schemas along; a project has those of the installed package. */
const schemasSeenFrom = (folder: string): string =>
  exists(`${folder}/../schemas/release.schema.json`) ? "schemas" : "node_modules/relcat/schemas";
