import { join } from "node:path";
import type { Surroundings } from "./deliver.ts";
import { readLedgerNow } from "./deliver.ts";
import { readSignedList, signedList } from "./deliver-sign.ts";
import type { Config } from "./documents/config.ts";
import type { SiteIndex, SiteState } from "./documents/site-state.ts";
import {
  type Changes,
  type PublicFile,
  type SiteStore,
  type StoredState,
  writtenFiles,
} from "./documents/site-store.ts";
import type { SiteSettings } from "./documents/sites.ts";
import type { TrustProfile } from "./documents/trust.ts";
import { loadConfiguration } from "./ingest/configuration.ts";
import { readBuild, requireBuild } from "./outside/built-site.ts";
import { readIfPresent } from "./outside/files.ts";
import { headOf, isBefore } from "./outside/git-head.ts";
import { withLock } from "./outside/lock.ts";
import { hasDied, type Publisher, thisPublisher } from "./outside/publishers.ts";
import { openSite } from "./outside/site-store.ts";
import { changesBetween, leavingFiles } from "./publish/changes.ts";
import {
  refuseHeld,
  refuseOlderLedger,
  refuseOvertaken,
  refuseStaleBuild,
  refuseTaken,
  refuseUnfitBuild,
} from "./publish/guards.ts";
import { ledgerMark } from "./publish/ledger-mark.ts";
import { liveIndex, liveSignatures } from "./publish/live-site.ts";
import {
  type LocalBuild,
  localBuild,
  refuseEndedSignatures,
  refuseOlderSignatures,
  refuseUnsigned,
  unsigned,
} from "./publish/local-build.ts";
import { announced } from "./publish/news.ts";
import { runPending } from "./publish/pending.ts";
import { requireArtifacts } from "./publish/require-artifacts.ts";
import type { SettledArtifacts, SettlingSite } from "./publish/settled-artifacts.ts";
import { siteNamed } from "./publish/site-named.ts";
import { type Occasion, Turn } from "./publish/turn.ts";
import type { Ledger } from "./stages/ledger.ts";

export interface PublishOptions {
  /** Say what would change, and change nothing. */
  dryRun?: boolean;
  /** End a hold. */
  releaseHold?: boolean;
  /** Records that came through an import name files that were there before relcat. */
  artifactsKnown?: boolean;
  environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970, asked for again while publishing takes its time. */
  now: () => number;
  /** How far it is. */
  onFile?: (done: number, all: number) => void;
}

/** A file as it is now, or was. */
export interface ChangedFile {
  path: string;
  sha256: string;
}

export interface PublishDelivery {
  site: string;
  build: string;
  previous: string | null;
  /** "unchanged": it was live already. */
  result: "published" | "unchanged" | "planned";
  added: ChangedFile[];
  changed: ChangedFile[];
  removed: string[];
  unchanged: number;
  /** Artifacts that were asked for. */
  artifacts: number;
  /** Artifacts that were not asked for: a settling site lists them. */
  settled: SettledArtifacts;
  /** Old builds and files that went. */
  pruned: number;
  requests: number;
}

/** What people should know beside what was done. */
export interface Told {
  trust: TrustProfile;
  /** false: a site that settles has what no commit has. */
  isCommitted: boolean;
}

/**
 * Publishes the built site in `out`: whole or not at all, never older than what is there, and again without harm.
 * @throws RelcatError for what a guard refuses, before anything moved; site-taken, storage-refused, network; hook-failed
 */
export async function publishSite(
  releases: string,
  out: string,
  name: string,
  options: PublishOptions,
  surroundings: Pick<Surroundings, "pid" | "onWait">,
): Promise<PublishDelivery & Told> {
  requireBuild(out);
  const config = await loadConfiguration(releases, undefined);
  const site = siteNamed(config, name);
  const store = await openSite(site, options.environment, surroundings.pid);
  const ledger = readLedgerNow(releases);
  const head = await headOf(releases);
  return withLock(out, surroundings.pid, surroundings.onWait, async () => {
    const local = readLocal(out, site);
    refuseUnfitBuild(local.document, site);
    if (config.trust.profile !== "none" && site.settles) refuseUnsigned(local, name);
    if (site.settles) refuseStaleBuild(local.document, ledger);
    const publisher = thisPublisher(options.environment, surroundings.pid);
    const settlingSites = site.settles ? [] : settlingSitesOf(config, options.environment, surroundings.pid);
    const occasion: Occasion = {
      action: "publish",
      commit: head?.isClean ? head.commit : null,
      isOvertaken: async (commit) => head !== undefined && isBefore(releases, head, commit),
    };
    const done = await publishBuild(
      { site, store, ledger, local, publisher, trust: config.trust, settlingSites },
      occasion,
      options,
    );
    const isCommitted = !site.settles || head?.isClean !== false || local.document.at !== undefined;
    return { ...done, trust: config.trust.profile, isCommitted };
  });
}

const settlingSitesOf = (
  { sites }: Config,
  environment: PublishOptions["environment"],
  pid: number,
): SettlingSite[] =>
  [...sites.values()]
    .filter(({ settles }) => settles)
    .map((site) => ({ name: site.name, open: () => openSite(site, environment, pid) }));

/** @throws RelcatError folder-missing, build-changed */
export function readLocal(out: string, site: SiteSettings): LocalBuild {
  const build = readBuild(out);
  const list = readSignedList(out);
  const listBytes = readIfPresent(join(out, signedList));
  return localBuild({
    folder: out,
    build,
    signed: list && listBytes && { list, bytes: listBytes },
    read: (path) => readIfPresent(join(out, path)),
    isBucket: site.place.kind === "s3",
  });
}

export interface PublishInput {
  site: SiteSettings;
  store: SiteStore;
  ledger: Ledger;
  local: LocalBuild;
  publisher: Publisher;
  trust: Config["trust"];
  /** Sites with permanent content, for a staging site. */
  settlingSites?: readonly SettlingSite[];
}

/** Publishes a build that fits its site, in the order in which readers never see half of it. */
export async function publishBuild(
  input: PublishInput,
  occasion: Occasion,
  options: PublishOptions,
): Promise<PublishDelivery> {
  const { site, store, ledger, local, publisher } = input;
  const stored = await store.readState();
  if (stored) await refuseByState(input, stored.state, occasion, options);
  const before = await liveIndex(store, stored?.state);
  const owned = new Set(Object.keys(before.owned));
  const changes = changesBetween(before.index?.files ?? {}, local.files, owned);
  const told = summary(input, stored?.state, before.index, changes);
  const endsHold = options.releaseHold === true && stored?.state.hold != null;
  if (isLive(stored?.state, local, occasion) && !endsHold) {
    if (!options.dryRun) await runPending(input, stored as StoredState, undefined);
    return { ...told, result: "unchanged", requests: store.requests() };
  }
  if (local.signed === null && stored?.state.signed) throw unsigned(local.folder, site.name);
  if (local.signed !== null) {
    refuseEndedSignatures(local, site.name, options.now());
    refuseOlderSignatures(local, await liveSignatures(store), site.name);
  }
  const { artifactsKnown = false } = options;
  const checked = await requireArtifacts({ ...input, live: before.index, artifactsKnown });
  if (options.dryRun) return { ...told, ...checked, result: "planned", requests: store.requests() };

  const { now, releaseHold = false } = options;
  const turn = await Turn.begin({ ...input, occasion, releaseHold, now }, stored);
  const { leaving, gone } = leavingFiles(owned, local.files, before.index?.leaving ?? {}, {
    now: options.now(),
    days: site.keep.days,
  });
  const progress = progressOf(changes, local.files.length, options);
  const kept = await store.publish(
    {
      build: local.id,
      files: local.files,
      changes,
      read: local.read,
      folder: local.folder,
      leaving,
      before: before.index,
    },
    publisher.run,
    async (when) => {
      progress();
      await turn.renew(when);
    },
  );
  const versions = announced(stored?.state, local, before.index);
  const pending = await turn.finish(
    occasion.ledger === "kept" ? undefined : ledgerMark(ledger),
    kept,
    versions,
  );
  const wasPending = stored?.state.pending?.purge === true;
  await runPending(input, pending, wasPending ? undefined : changes);
  const pruned = await store.prune(pending.state.history, gone);
  return { ...told, ...checked, result: "published", pruned, requests: store.requests() };
}

async function refuseByState(
  { site, ledger, local, publisher }: PublishInput,
  state: SiteState,
  { action, isOvertaken }: Occasion,
  { now, releaseHold = false }: PublishOptions,
): Promise<void> {
  const isGone = (name: string, run: string) => hasDied({ name, run }, publisher);
  refuseTaken(state, { now: now(), isGone });
  if (!site.settles || action === "refresh") return;
  refuseOlderLedger(ledger, state, site);
  if (isOvertaken) await refuseOvertaken(isOvertaken, state, site);
  if (action === "publish" && !releaseHold) refuseHeld(local.document, state, site);
}

const isLive = (state: SiteState | undefined, local: LocalBuild, { hold }: Occasion): boolean =>
  state?.state === "done" &&
  state.build === local.id &&
  state.signed === local.signed &&
  (hold === undefined || hold?.reason === state.hold?.reason);

function summary(
  { site, local }: PublishInput,
  state: SiteState | undefined,
  live: SiteIndex | undefined,
  changes: Changes,
): PublishDelivery {
  const all = writtenFiles(changes);
  const isNew = ({ path }: PublicFile) => !Object.hasOwn(live?.files ?? {}, path);
  const shown = ({ path, sha256 }: PublicFile) => ({ path, sha256 });
  return {
    site: site.name,
    build: local.id,
    previous: state?.history[0]?.build ?? null,
    result: "planned",
    added: all.filter(isNew).map(shown),
    changed: all.filter((file) => !isNew(file)).map(shown),
    removed: changes.removed,
    unchanged: local.files.length - all.length,
    artifacts: 0,
    settled: { artifacts: 0, releases: [], sites: [] },
    pruned: 0,
    requests: 0,
  };
}

function progressOf({ immutable, mutable }: Changes, files: number, { onFile = () => {} }: PublishOptions) {
  const all = Math.max(immutable.length + mutable.flat().length, files === 0 ? 0 : 1);
  let done = 0;
  return () => onFile(Math.min(++done, all), all);
}
