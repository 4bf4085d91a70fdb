import type { Config } from "../documents/config.ts";
import type { SiteState } from "../documents/site-state.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { RelcatError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { beginsWith, eventsAfter } from "../ledger/ledger-mark.ts";
import { nothingLive, readLiveMetadata } from "../trust/live-metadata.ts";
import { findRoot } from "../trust/stores/trust-folder.ts";
import { metadataOf } from "./site-metadata.ts";
import { openSite } from "./stores/site-store.ts";

/** Signed metadata of a role, and when it ends. */
export interface RoleEnd {
  role: string;
  expires: string;
  /** Whole days from now; negative when it is over. */
  days: number;
}

/** What a site has, seen from the releases here. */
export interface SiteStatus {
  name: string;
  url: string;
  /** Why nothing is known of it. */
  unreachable?: string;
  /** null: nothing was published yet. */
  live: Pick<SiteState, "build" | "at" | "publisher" | "commit" | "state" | "hold"> | null;
  /** Ledger lines here that are not published there; null where the ledger there is not the beginning of this one. */
  unpublished: number | null;
  /** Soonest first; empty where nothing is signed. */
  ends: RoleEnd[];
  /** Live metadata that no key of the newest root in `releases/trust/` signed. */
  unverified: readonly string[];
}

const day = 86_400_000;

/** How sites are asked. */
export interface Asking {
  environment: Readonly<Record<string, string | undefined>>;
  pid: number;
  /** Milliseconds since 1970. */
  now: number;
  /** The releases folder, whose trust verifies what is live. */
  releases: string;
}

/** Asks every site of the configuration; one that cannot be asked says why. */
export async function siteStatuses({ sites }: Config, ledger: Ledger, asking: Asking): Promise<SiteStatus[]> {
  return Promise.all(
    [...sites.values()].map(async (site) => {
      try {
        return await statusOf(site, ledger, asking);
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
