import type { Config } from "../documents/config.ts";
import type { SiteState } from "../documents/site-state.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { RelcatError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { beginsWith, eventsAfter } from "../ledger/ledger-mark.ts";
import { liveSuiteEnds } from "../trust/feeds/suite-ends.ts";
import { nothingLive, readLiveMetadata } from "../trust/live-metadata.ts";
import { findRoot } from "../trust/stores/trust-folder.ts";
import { metadataOf } from "./site-metadata.ts";
import { openSite } from "./stores/site-store.ts";

/** Expiry of a role's metadata. */
export interface RoleEnd {
  role: string;
  expires: string;
  /** Whole days from now; negative after expiry. */
  days: number;
}

/** Live state of a site compared with the local releases. */
export interface SiteStatus {
  name: string;
  url: string;
  /** Reason if the site cannot be read. */
  unreachable?: string;
  /** null: nothing was published yet. */
  live: Pick<SiteState, "build" | "at" | "publisher" | "commit" | "state" | "hold"> | null;
  /**
   * Number of local ledger lines not published there; null: the site's ledger is not a prefix of the local
   * one.
   */
  unpublished: number | null;
  /** Soonest first; empty if the site is not signed. */
  ends: RoleEnd[];
  /** Live metadata without a signature valid for the newest root in `releases/trust/`. */
  unverified: readonly string[];
}

const day = 86_400_000;

/** Parameters of the query. */
export interface Asking {
  environment: Readonly<Record<string, string | undefined>>;
  pid: number;
  /** Milliseconds since 1970. */
  now: number;
  /** The releases folder, whose trust verifies the live metadata. */
  releases: string;
}

/** Queries every configured site; unreachable ones give a reason. */
export async function siteStatuses(config: Config, ledger: Ledger, asking: Asking): Promise<SiteStatus[]> {
  return Promise.all(
    [...config.sites.values()].map(async (site) => {
      try {
        return await statusOf(site, config, ledger, asking);
      } catch (error) {
        if (!(error instanceof RelcatError)) throw error;
        const { name, url } = site;
        const [problem] = error.problems;
        return {
          name,
          url,
          unreachable: problem?.message ?? error.message,
          live: null,
          unpublished: null,
          ends: [],
          unverified: [],
        };
      }
    }),
  );
}

async function statusOf(
  site: SiteSettings,
  config: Config,
  ledger: Ledger,
  { environment, pid, now, releases }: Asking,
): Promise<SiteStatus> {
  const { name, url } = site;
  const store = await openSite(site, environment, pid);
  const stored = await store.readState();
  if (!stored) return { name, url, live: null, unpublished: ledger.events.length, ends: [], unverified: [] };
  const { build, at, publisher, commit, state, hold, ledger: mark, signed } = stored.state;
  const root = findRoot(releases);
  const { timestamp, snapshot, roles, unverified } =
    signed === null || !root ? nothingLive : await readLiveMetadata(metadataOf(store), root);
  const ends = [
    ...(timestamp ? [["timestamp", timestamp.metadata.signed.expires] as const] : []),
    ...(snapshot ? [["snapshot", snapshot.metadata.signed.expires] as const] : []),
    ...[...roles].map(([role, part]) => [role, part.metadata.signed.expires as string] as const),
    ...(await liveSuiteEnds(config, (path) => store.read(path), now)),
  ].map(([role, expires]) => ({ role, expires, days: Math.floor((Date.parse(expires) - now) / day) }));
  return {
    name,
    url,
    live: { build, at, publisher, commit, state, hold },
    unpublished: beginsWith(ledger, mark) ? eventsAfter(ledger, mark) : null,
    ends: ends.sort((a, b) => (a.expires < b.expires ? -1 : 1)),
    unverified,
  };
}
