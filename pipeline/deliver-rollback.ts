import { join } from "node:path";
import { readLedgerNow, type Surroundings } from "./deliver.ts";
import { type PublishDelivery, type PublishOptions, publishBuild, readLocal } from "./deliver-publish.ts";
import { signSite } from "./deliver-sign.ts";
import type { BuildDocument } from "./documents/site.ts";
import { type HistoryEntry, type SiteState, timestampOf } from "./documents/site-state.ts";
import type { SiteStore, StoredState } from "./documents/site-store.ts";
import { failure } from "./errors.ts";
import { loadConfiguration } from "./ingest/configuration.ts";
import { readBuild } from "./outside/built-site.ts";
import { readIfPresent } from "./outside/files.ts";
import { thisPublisher } from "./outside/publishers.ts";
import { openSite } from "./outside/site-store.ts";
import { withWorkFolder } from "./outside/work-folder.ts";
import { refuseRetracted, refuseUnfitBuild, short } from "./publish/guards.ts";
import { listPath } from "./publish/site-files.ts";
import { siteNamed } from "./publish/site-named.ts";
import { type Occasion, unlessTaken } from "./publish/turn.ts";
import type { MetadataSource } from "./trust/live-metadata.ts";
import { sha256 } from "./trust/metadata.ts";

/** What a site tells of itself. @throws RelcatError site-unknown, site-empty */
export async function readSiteState(
  releases: string,
  name: string,
  { environment, pid }: { environment: PublishOptions["environment"]; pid: number },
): Promise<SiteState> {
  const site = siteNamed(await loadConfiguration(releases, undefined), name);
  return (await stateOf(await openSite(site, environment, pid), name)).state;
}

async function stateOf(store: SiteStore, name: string): Promise<StoredState> {
  const stored = await store.readState();
  if (stored) return stored;
  throw failure("site-empty", `nothing was published to ${name} yet`, `Begin with: relcat publish ${name}`);
}

export interface RollbackOptions extends PublishOptions {
  /** Beginning of the build's id; default: the one before. */
  to?: string | undefined;
  /** A folder with a build of an earlier commit, instead of what the site keeps. */
  out?: string | undefined;
  /** Shown to whoever wants to publish meanwhile. */
  reason: string;
}

/**
 * Makes an earlier build live again, under new signatures, and holds the site there.
 * @throws RelcatError site-empty, build-unknown, build-retracted, and what `publishSite` throws
 */
export async function rollbackSite(
  releases: string,
  name: string,
  options: RollbackOptions,
  surroundings: Pick<Surroundings, "pid" | "onWait">,
): Promise<PublishDelivery & { commit: string | null }> {
  const config = await loadConfiguration(releases, undefined);
  const site = siteNamed(config, name);
  const { environment, now } = options;
  const store = await openSite(site, environment, surroundings.pid);
  const { state, tag } = await stateOf(store, name);
  const ledger = readLedgerNow(releases);
  const publisher = thisPublisher(environment, surroundings.pid);
  return withWorkFolder(async (work) => {
    const asChosen = <T>(step: () => Promise<T>) => unlessTaken(site, store, (now) => now.tag === tag, step);
    const kept =
      options.out === undefined
        ? await asChosen(() => restore(store, chosen(state, options.to), work))
        : null;
    const folder = options.out ?? work;
    const { document, list } = earlierBuild(folder);
    refuseUnfitBuild(document, site);
    const commit = document.at ?? kept;
    refuseRetracted(list, ledger, commit);
    await options.onStep?.("sign");
    if (config.trust.profile !== "none" && site.settles && !(options.dryRun && options.out))
      await signSite(releases, folder, { live: metadataOf(store), environment, now: now() }, surroundings);
    const hold = { reason: options.reason, by: publisher.name, since: timestampOf(now()), commit };
    const local = readLocal(folder, site);
    const occasion: Occasion = {
      action: "rollback",
      hold,
      commit,
      chosenBy: tag,
      ...(options.out === undefined && { ledger: "kept" }),
    };
    const done = await publishBuild(
      { site, store, ledger, local, publisher, trust: config.trust },
      occasion,
      options,
    );
    return { ...done, commit };
  });
}

/** A list that is not what was built is empty: signing and publishing compare all files, and name it. */
function earlierBuild(folder: string): { document: BuildDocument; list: { id: number }[] } {
  const { document } = readBuild(folder);
  const bytes = readIfPresent(join(folder, listPath));
  const isBuilt = bytes !== undefined && sha256(bytes) === document.files[listPath]?.sha256;
  return { document, list: isBuilt ? JSON.parse(new TextDecoder().decode(bytes)) : [] };
}

/**
 * Renews the signatures of what is live, and changes nothing else: a hold stays, and nothing newer goes out.
 * @throws RelcatError site-empty, build-unknown, trust-missing, and what `publishSite` throws
 */
export async function refreshSite(
  releases: string,
  name: string,
  options: PublishOptions,
  surroundings: Pick<Surroundings, "pid" | "onWait">,
): Promise<PublishDelivery> {
  const config = await loadConfiguration(releases, undefined);
  const site = siteNamed(config, name);
  const { environment, now } = options;
  const store = await openSite(site, environment, surroundings.pid);
  const { state, tag } = await stateOf(store, name);
  const [entry] = state.history;
  if (!entry || state.state !== "done") {
    throw failure(
      "site-taken",
      `${name} is between two builds: ${state.publisher} began to publish ${short(state.build)}`,
      `Finish that first: relcat publish ${name}, or the rollback that was stopped.`,
    );
  }
  const publisher = thisPublisher(environment, surroundings.pid);
  return withWorkFolder(async (folder) => {
    await unlessTaken(
      site,
      store,
      (now) => now.tag === tag,
      () => restore(store, entry, folder),
    );
    await options.onStep?.("sign");
    await signSite(releases, folder, { live: metadataOf(store), environment, now: now() }, surroundings);
    const occasion = { action: "refresh", commit: entry.commit, ledger: "kept", chosenBy: tag } as const;
    const local = readLocal(folder, site);
    const ledger = readLedgerNow(releases);
    return publishBuild({ site, store, ledger, local, publisher, trust: config.trust }, occasion, options);
  });
}

/** @returns the commit it was made of @throws RelcatError build-unknown, build-changed */
async function restore(store: SiteStore, entry: HistoryEntry, folder: string): Promise<string | null> {
  const restored = await store.restore(entry.files, folder);
  if (restored === "whole") return entry.commit;
  if (restored === "gone") throw unknown(short(entry.build), "is not kept any more");
  const commit = short(entry.commit ?? "COMMIT");
  throw failure(
    "build-changed",
    `${restored.changed} is not what was published as build ${short(entry.build)}: somebody changed it`,
    `Put it back from a copy, go back to another build with --to, or make this one anew: relcat build --released --at ${commit} --out earlier, then relcat rollback with --out earlier`,
  );
}

/** @throws RelcatError build-unknown */
function chosen(state: SiteState, to: string | undefined): HistoryEntry {
  const { history, build } = state;
  if (to) {
    const named = history.find((entry) => entry.build.startsWith(to));
    if (named) return named;
  }
  if (to === undefined) {
    // One that was stopped half-way is finished; it must not be taken back in its turn.
    const isHalfWay = state.state === "publishing" && state.action === "rollback";
    if (!isHalfWay) refuseTwice(state);
    const left = new Set(
      history.flatMap((entry, index) =>
        entry.action === "rollback" ? (history[index + 1]?.build ?? []) : [],
      ),
    );
    const found = isHalfWay
      ? history.find((entry) => entry.build === build)
      : history.find((entry) => entry.build !== history[0]?.build && !left.has(entry.build));
    if (found) return found;
  }
  if (to !== undefined) throw unknown(to, "was never published there, or is not kept any more");
  throw failure(
    "build-unknown",
    "there is no earlier build to go back to",
    "The first one is live. Withdraw packages with: relcat retract",
  );
}

/** @throws RelcatError site-held */
function refuseTwice({ history: [last], hold }: SiteState): void {
  if (!hold || (last?.action !== "rollback" && last?.action !== "refresh")) return;
  throw failure(
    "site-held",
    `the site was taken back already, to build ${short(last.build)}, and is held there: ${hold.reason}`,
    "To go further back, name the build with --to: relcat history lists them.",
  );
}

const unknown = (build: string, what: string) =>
  failure(
    "build-unknown",
    `the build ${build} ${what}`,
    "relcat history lists those that one can go back to.",
  );

/** What is signed and live at a site, and which numbers are taken there. */
export const metadataOf = (store: SiteStore): MetadataSource => ({
  read: (path) => store.read(path),
  names: () => store.metadataNames(),
});

/** The same of a site that catalog.yaml names. @throws RelcatError site-unknown */
export async function metadataAtSite(
  releases: string,
  name: string,
  { environment, pid }: { environment: PublishOptions["environment"]; pid: number },
): Promise<MetadataSource> {
  const site = siteNamed(await loadConfiguration(releases, undefined), name);
  return metadataOf(await openSite(site, environment, pid));
}
