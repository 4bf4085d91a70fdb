import { buildCatalog, type Catalog, loadCatalog, loadLedger, type Selection, type Site } from "./build.ts";
import { type Cut, type CutOptions, decideCut, decideReinstate, decideRetract, decideUncut, eventTime, type LedgerChange, type RetractOptions, throwIfUnsound } from "./cut.ts";
import type { BuildDocument } from "./documents/site.ts";
import { failure, throwErrors } from "./errors.ts";
import { readIfPresent, replaceDurably, requireFolder } from "./outside/files.ts";
import { commit, showFile } from "./outside/git.ts";
import { withLock } from "./outside/lock.ts";
import { openSiteFolder, refuseForeignFolder } from "./outside/site-folder.ts";
import type { Ledger } from "./stages/ledger.ts";

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
