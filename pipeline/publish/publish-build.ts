import type { Settings } from "../documents/config.ts";
import type { SiteState } from "../documents/site-state.ts";
import {
  type Changes,
  type Damage,
  type Publication,
  type PublicFile,
  type SiteStore,
  writtenFiles,
} from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { ledgerMark } from "../ledger/ledger-mark.ts";
import { requireClock } from "../trust/clock.ts";
import type { SignedRoot } from "../trust/metadata.ts";
import { announced } from "./announcements.ts";
import { requireSameOrigins } from "./apt-origins.ts";
import { changesBetween, endsAfter, leavingFiles } from "./changes.ts";
import { requireCorrections } from "./corrections.ts";
import {
  refuseEndedSignatures,
  refuseHeld,
  refuseOlderLedger,
  refuseOlderSignatures,
  refuseOvertaken,
  refuseTaken,
  unsigned,
} from "./guards.ts";
import { type LiveSite, liveSignatures, readLiveSite } from "./live-site.ts";
import type { LocalBuild } from "./local-build.ts";
import { runPending } from "./pending.ts";
import { newArtifacts, requireArtifacts } from "./require-artifacts.ts";
import type { SettledArtifacts, SettlingSite } from "./settled-artifacts.ts";
import { hasDied, type Publisher } from "./stores/publishers.ts";
import { type Occasion, type OnStep, Turn, taken } from "./turn.ts";

export interface PublishOptions {
  /** Report the changes without making them. */
  dryRun?: boolean;
  /** End a hold. */
  releaseHold?: boolean;
  /** Read every file at the site, and rewrite those that changed since they were published. */
  repair?: boolean;
  /** Imported records name files that existed before relcat, so these are not checked. */
  artifactsKnown?: boolean;
  /** Reason for publishing ledger lines that the base lacks; stored in the site's history. */
  allowUnpushed?: string | undefined;
  /** Reason for publishing files that are not committed; stored in the site's history. */
  allowUncommitted?: string | undefined;
  /** Publish suites of apt under another Origin or Label than the live ones. */
  allowChangedOrigin?: boolean;
  environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970; called repeatedly, because publishing takes time. */
  now: () => number;
  /** Progress callback. */
  onFile?: (done: number, all: number) => void;
  onStep?: OnStep;
}

/** A new, changed or removed file. */
export interface ChangedFile {
  path: string;
  sha256: string;
}

/** Secrets and the process id, with which the store of a site is opened. */
export interface SiteAccess {
  environment: PublishOptions["environment"];
  pid: number;
}

export interface PublishDelivery {
  site: string;
  build: string;
  previous: string | null;
  /** "unchanged": it was already live. */
  result: "published" | "unchanged" | "planned";
  added: ChangedFile[];
  changed: ChangedFile[];
  removed: string[];
  /** Damaged files that were rewritten. */
  repaired: Damage[];
  unchanged: number;
  /** Number of artifacts that were checked. */
  artifacts: number;
  /** Artifacts that a settling site lists, so that they were not checked. */
  settled: SettledArtifacts;
  /** Number of removed old builds and files. */
  pruned: number;
  /** Live metadata without a signature valid for our newest root; it is replaced. */
  unverified: string[];
  requests: number;
}

export interface PublishInput {
  site: SiteSettings;
  store: SiteStore;
  ledger: Ledger;
  local: LocalBuild;
  publisher: Publisher;
  trust: Settings["trust"];
  /** Sites with permanent content, for comparison by a staging site. */
  settlingSites?: readonly SettlingSite[];
  /** Newest root of `releases/trust/`; undefined: signing is not set up. */
  root: SignedRoot | undefined;
}

/** Publishes a verified build in an order in which readers never see a half-published site. */
export async function publishBuild(
  input: PublishInput,
  occasion: Occasion,
  options: PublishOptions,
): Promise<PublishDelivery> {
  const { site, store, ledger, local } = input;
  const { now, releaseHold = false, artifactsKnown = false, onStep } = options;
  await onStep?.("look");
  const stored = await store.readState();
  if (stored) await refuseByState(input, stored.state, occasion, options);
  if (local.signed !== null) {
    requireClock(now(), store.clockOffset(), {});
    refuseEndedSignatures(local, site.name, now());
  }
  if (occasion.chosenBy !== undefined && stored?.tag !== occasion.chosenBy) throw taken(site);
  const live = await readLiveSite(store, stored?.state, {
    hosting: stored?.state.build === local.id ? local.hosting : undefined,
    isRead: options.repair === true,
  });
  const changes = changesBetween(live.index?.files ?? {}, local.files, live.owned);
  const report = summary(input, stored?.state, live, changes);
  const endsHold = releaseHold && stored?.state.hold != null;
  const request = { ...input, occasion, releaseHold, now, onStep };
  if (stored && isLive(stored.state, live, local, occasion) && !endsHold) {
    if (!options.dryRun) await runPending(input, new Turn(request, stored), undefined);
    return { ...report, result: "unchanged", requests: store.requests() };
  }
  if (site.settles && occasion.action === "publish" && !options.allowChangedOrigin)
    await requireSameOrigins(store, live.index?.files ?? {}, local, site.name);
  if (site.settles && occasion.action === "publish" && local.document.at === undefined)
    await requireCorrections(store, live.published ?? live.index, local, { site: site.name, now: now() });
  if (local.signed === null && stored?.state.signed) throw unsigned(local.folder, site.name);
  if (local.signed !== null) {
    const { seen, unverified } = await liveSignatures(store, input.root);
    report.unverified = unverified;
    refuseOlderSignatures(local, seen, site.name);
  }
  const named = await newArtifacts(input, live.published ?? live.index, artifactsKnown);
  const checked = await requireArtifacts(named, input);
  if (options.dryRun) return { ...report, ...checked, result: "planned", requests: store.requests() };

  await onStep?.("begin");
  const turn = await Turn.begin(request, stored);
  const isOver = endsAfter(site.keep.days, now());
  const publication = publicationOf(input, live, changes, { now: now(), isOver }, options);
  const kept = await turn.during(() => store.publish(publication, turn));
  const versions = announced(stored?.state, local, live.published ?? live.index);
  await turn.step("finish");
  await turn.finish(occasion.ledger === "kept" ? undefined : ledgerMark(ledger), kept, versions);
  const wasPending = stored?.state.pending?.purge === true;
  await runPending(input, turn, wasPending ? undefined : changes);
  const pruned = await turn.during(() => store.prune(turn, isOver));
  return { ...report, ...checked, result: "published", pruned, requests: store.requests() };
}

function publicationOf(
  { local }: PublishInput,
  { index, published, owned }: LiveSite,
  changes: Changes,
  time: { now: number; isOver: (since: string) => boolean },
  options: PublishOptions,
): Publication {
  const { id: build, files, read, folder, hosting } = local;
  return {
    ...{ build, files, changes, read, folder, hosting, published },
    ...leavingFiles(owned, files, index?.leaving ?? {}, time),
    before: index,
    onFile: progressOf(changes, files.length, options),
  };
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
  if (action === "publish" && !releaseHold) refuseHeld(local, state, site);
}

/** Live means that both the recorded state and the stored files match. */
const isLive = (state: SiteState, { damage }: LiveSite, local: LocalBuild, { hold }: Occasion): boolean =>
  state.state === "done" &&
  damage.length === 0 &&
  state.build === local.id &&
  state.signed === local.signed &&
  (hold === undefined || hold?.reason === state.hold?.reason);

function summary(
  { site, local }: PublishInput,
  state: SiteState | undefined,
  { index, damage }: LiveSite,
  changes: Changes,
): PublishDelivery {
  const all = writtenFiles(changes);
  const isNew = ({ path }: PublicFile) => !Object.hasOwn(index?.files ?? {}, path);
  const shown = ({ path, sha256 }: PublicFile) => ({ path, sha256 });
  return {
    site: site.name,
    build: local.id,
    previous: state?.history[0]?.build ?? null,
    result: "planned",
    added: all.filter(isNew).map(shown),
    changed: all.filter((file) => !isNew(file)).map(shown),
    removed: changes.removed,
    repaired: damage,
    unchanged: local.files.length - all.length,
    artifacts: 0,
    settled: { artifacts: 0, releases: [], sites: [] },
    pruned: 0,
    unverified: [],
    requests: 0,
  };
}

function progressOf({ immutable, mutable }: Changes, files: number, { onFile = () => {} }: PublishOptions) {
  const all = Math.max(immutable.length + mutable.flat().length, files === 0 ? 0 : 1);
  let done = 0;
  return () => onFile(Math.min(++done, all), all);
}
