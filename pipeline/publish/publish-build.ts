import type { PublishDelivery } from "../documents/outputs/sites.ts";
import { isFolderAddress } from "../documents/relative-path.ts";
import { usualKey, usualOpenPgpKey, usualPackslipKey } from "../documents/signers.ts";
import type { ReleaseDocument } from "../documents/site.ts";
import { fileIn, type SiteIndex, type SiteState } from "../documents/site-state.ts";
import { type Changes, type Publication, type PublicFile, writtenFiles } from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { ledgerMark } from "../ledger/ledger-mark.ts";
import { runHook } from "../system/hooks.ts";
import { changesBetween, endsAfter, leavingFiles } from "./changes.ts";
import { guards, passGuards, type SiteSituation } from "./guards.ts";
import { type LiveSite, readLiveSite } from "./live-site.ts";
import type { LocalBuild } from "./local-build.ts";
import type { Publishing, PublishOptions } from "./open-publishing.ts";
import { type PublishContext, Turn } from "./turn.ts";

/** Publishes a verified build in an order in which readers never see a half-published site. */
export async function publishBuild(input: Omit<SiteSituation, "stored">): Promise<PublishDelivery> {
  const { site, store, ledger, local, publishContext, options } = input;
  const { now, releaseHold = false, onStep } = options;
  await onStep?.("look");
  const stored = await store.readState();
  const situation = { ...input, stored };
  await passGuards(guards.state, situation);
  const live = await readLiveSite(store, stored?.state, {
    hosting: stored?.state.build === local.id ? local.hosting : undefined,
    isRead: options.repair === true,
  });
  const changes = changesBetween(live.index, local.files, live.owned);
  const report = summary(input, stored?.state, live, changes);
  const endsHold = releaseHold && stored?.state.hold != null;
  const request = { ...input, releaseHold, now, onStep };
  if (stored && isLive(stored.state, live, local, publishContext) && !endsHold) {
    if (!options.dryRun) await runPending(input, new Turn(request, stored), undefined);
    return { ...report, result: "unchanged", requests: store.requests() };
  }
  const { unverified, checked } = await passGuards(guards.changes, { ...situation, live });
  const found = { ...report, ...checked, unverified };
  if (options.dryRun) return { ...found, result: "planned", requests: store.requests() };

  await onStep?.("begin");
  const turn = await Turn.begin(request, stored);
  const isOver = endsAfter(site.keep.days, now());
  const publication = publicationOf(input, live, changes, { now: now(), isOver }, options);
  const kept = await turn.during(() => store.publish(publication, turn));
  const versions = announced(stored?.state, local, live.published ?? live.index);
  await turn.step("finish");
  await turn.finish(publishContext.ledger === "kept" ? undefined : ledgerMark(ledger), kept, versions);
  const wasPending = stored?.state.pending?.purge === true;
  await runPending(input, turn, wasPending ? undefined : changes);
  const pruned = await turn.during(() => store.prune(turn, isOver));
  return { ...found, result: "published", pruned, requests: store.requests() };
}

function publicationOf(
  { local }: Pick<SiteSituation, "local">,
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

/** Live means that both the recorded state and the stored files match. */
const isLive = (state: SiteState, { damage }: LiveSite, local: LocalBuild, { hold }: PublishContext) =>
  state.state === "done" &&
  damage.length === 0 &&
  state.build === local.id &&
  state.signed === local.signed &&
  (hold === undefined || hold?.reason === state.hold?.reason);

function summary(
  { site, local }: Pick<SiteSituation, "site" | "local">,
  state: SiteState | undefined,
  { index, damage }: LiveSite,
  changes: Changes,
): PublishDelivery {
  const all = writtenFiles(changes);
  const isNew = ({ path }: PublicFile) => !fileIn(index, path);
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

/**
 * Runs the pending hooks; the next run repeats a failed one. @throws RelcatError hook-failed, site-taken
 * @param changes undefined: left over from an earlier run, so everything may have changed
 */
async function runPending(
  { site, local, project }: Pick<Publishing, "site" | "project"> & { local: LocalBuild },
  turn: Turn,
  changes: Changes | undefined,
): Promise<void> {
  const { trust } = project.config;
  const { state } = turn;
  const { pending } = state;
  if (!pending) return;
  // Hooks do not sign, so they do not get the keys.
  const named = [trust.online, trust.packslip, ...trust.openpgp].flatMap((key) =>
    "env" in key ? key.env : [],
  );
  const hidden = [usualKey, usualOpenPgpKey, usualPackslipKey, ...named];
  const run = { folder: site.folder, hidden };
  if (pending.purge && site.purge) {
    const files = changes ? writtenFiles(changes) : local.files;
    const cached = files.filter(({ isImmutable }) => !isImmutable).map(({ path }) => path);
    const paths = [...cached, ...(changes?.removed ?? [])];
    const served = paths.filter((path) => !isFolderAddress(path));
    await runHook(`the purge of ${site.name}`, site.purge, purgeLines(site.baseUrl, served), run);
  }
  if (pending.announce.length > 0 && site.afterPublish) {
    const text = announcement(site, local, state, pending.announce);
    await runHook(`after_publish of ${site.name}`, site.afterPublish, text, run);
  }
  await turn.write({ ...state, pending: null });
}

/** Both addresses of an index document must be purged. @returns one line of JSON per address */
function purgeLines(baseUrl: string, paths: readonly string[]): string {
  const urls = paths.flatMap((path) => {
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    const folder = encoded.replace(/(^|\/)index\.(html|json)$/, "$1");
    return folder === encoded ? [encoded] : [encoded, folder];
  });
  const lines = [...new Set(urls)].sort().map((path) => JSON.stringify({ url: `${baseUrl}/${path}` }));
  return lines.map((line) => `${line}\n`).join("");
}

/** Input of the after_publish hook: releases that are new at a site. */
function announcement(
  { name, baseUrl }: SiteSettings,
  local: LocalBuild,
  { build, previous, commit }: SiteState,
  versions: readonly string[],
): string {
  const known = new Set(local.files.map(({ path }) => path));
  const releases = versions.flatMap((version) => {
    const path = `api/v1/release/${version}/index.json`;
    if (!known.has(path)) return [];
    const document = JSON.parse(new TextDecoder().decode(local.read(path))) as ReleaseDocument;
    const { date, summary, packages } = document;
    return [{ version, date, summary, packages: packages.length, url: `${baseUrl}/releases/${version}/` }];
  });
  return `${JSON.stringify({ schema_version: 1, site: name, build, previous, commit, releases })}\n`;
}

/** Versions that become visible for the first time. */
function announced(state: SiteState | undefined, local: LocalBuild, live: SiteIndex | undefined): string[] {
  if (!state || state.history.length === 0) return [];
  return local.files.flatMap(({ path }) => {
    const version = /^api\/v1\/release\/(\d[^/]*)\/index\.json$/.exec(path)?.[1];
    return version !== undefined && !fileIn(live, path) ? [version] : [];
  });
}
