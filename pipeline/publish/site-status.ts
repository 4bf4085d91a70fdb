import { RelcatError } from "../../shared/errors.ts";
import type { KeyedSettings } from "../documents/config.ts";
import { aptValidDays } from "../documents/feeds/settings.ts";
import type { RoleEnd, SiteStatus } from "../documents/outputs/catalog.ts";
import type { SiteStore } from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { beginsWith, eventsAfter } from "../ledger/ledger-mark.ts";
import { liveSuiteEnds } from "../trust/feeds/release-file.ts";
import { nothingLive, readLiveMetadata } from "../trust/live-metadata.ts";
import { metadataPath, type SignedRoot, signingDate } from "../trust/metadata.ts";
import { clockTolerance, day, isDue, warningDays } from "../trust/roles.ts";
import { readTrust } from "../trust/stores/trust-folder.ts";
import { metadataOf } from "./stores/kept-build.ts";
import { openSite } from "./stores/site-store.ts";

interface Asking {
  environment: Readonly<Record<string, string | undefined>>;
  pid: number;
  /** Milliseconds since 1970. */
  now: number;
  /** The releases folder, whose trust verifies the live metadata. */
  releases: string;
}

const nothingThere = { live: null, ends: [], unverified: [] };

/** Queries every configured site; unreachable ones give a reason. */
export async function siteStatuses(
  config: KeyedSettings,
  ledger: Ledger,
  asking: Asking,
): Promise<SiteStatus[]> {
  return Promise.all(
    [...config.sites.values()].map(async (site) => {
      try {
        return await statusOf(site, config, ledger, asking);
      } catch (error) {
        if (!(error instanceof RelcatError)) throw error;
        const { name, url } = site;
        const unreachable = error.problems[0]?.message ?? error.message;
        return { name, url, unreachable, unpublished: null, ...nothingThere };
      }
    }),
  );
}

async function statusOf(
  site: SiteSettings,
  config: KeyedSettings,
  ledger: Ledger,
  { environment, pid, now, releases }: Asking,
): Promise<SiteStatus> {
  const { name, url } = site;
  const store = await openSite(site, environment, pid);
  const stored = await store.readState();
  if (!stored) return { name, url, unpublished: ledger.events.length, ...nothingThere };
  const { build, at, publisher, commit, state, hold, ledger: mark, signed } = stored.state;
  const trust = signed === null ? undefined : readTrust(releases);
  const root = trust?.root;
  const { timestamp, snapshot, roles, unverified } =
    root === undefined ? nothingLive : await readLiveMetadata(metadataOf(store), root);
  const isAhead = timestamp && (signingDate(timestamp.metadata.signed) ?? 0) > now + clockTolerance;
  const liveRoot = await newestAt(store, trust?.roots ?? []);
  const ends = [
    ...(liveRoot ? [["root", liveRoot.metadata.signed.expires] as const] : []),
    ...(timestamp ? [["timestamp", timestamp.metadata.signed.expires] as const] : []),
    ...(snapshot ? [["snapshot", snapshot.metadata.signed.expires] as const] : []),
    ...[...roles].map(([role, part]) => [role, part.metadata.signed.expires as string] as const),
    ...(await liveSuiteEnds(config, (path) => store.read(path), now)),
  ].map(([role, expires]): RoleEnd => {
    const left = Date.parse(expires) - now;
    const isOffline = role === "root" || role === "targets";
    const { validDays } = config.trust;
    const isSuiteDue = left < (aptValidDays(config.feeds, validDays) * day) / 2;
    const isOnlineDue = role.startsWith("dists/") ? isSuiteDue : isDue(role, expires, { now, validDays });
    const isDueNow = isOffline ? left < warningDays * day : isOnlineDue;
    // A role that was renewed here already has only to be published.
    const here = role === "root" ? trust?.root : trust?.targets;
    const isRenewed = isOffline && here !== undefined && here.metadata.signed.expires > expires;
    // A refresh refuses metadata without our signature.
    const online =
      unverified.length > 0
        ? `relcat build --released --site ${name} && relcat sign --site ${name} && relcat publish ${name}`
        : `relcat publish ${name} --refresh`;
    const renew = isOffline && !isRenewed ? "relcat trust sign --keys KEYS" : online;
    const state =
      left <= 0 ? "expired" : role === "timestamp" && isAhead ? "future" : isDueNow ? "due" : "valid";
    return { role, expires, days: Math.floor(left / day), state, command: state === "valid" ? null : renew };
  });
  return {
    name,
    url,
    live: { build, at, publisher, commit, state, hold },
    unpublished: beginsWith(ledger, mark) ? eventsAfter(ledger, mark) : null,
    ends: ends.sort((a, b) => (a.expires < b.expires ? -1 : 1)),
    unverified: [...unverified],
  };
}

async function newestAt(store: SiteStore, roots: readonly SignedRoot[]): Promise<SignedRoot | undefined> {
  for (const root of roots.toReversed())
    if (await store.read(metadataPath("root", root.metadata.signed.version))) return root;
  return undefined;
}
