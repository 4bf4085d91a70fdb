import type { SiteState } from "../documents/site-state.ts";
import { findLedgerBase } from "../ledger/ledger-base.ts";
import { readLedgerNow } from "../ledger/ledger-file.ts";
import { loadConfiguration } from "../project/configuration.ts";
import { siteNamed } from "../project/site-named.ts";
import { isInRepository } from "../system/git/git.ts";
import { branchOf } from "../system/git/git-head.ts";
import { isMergedIn } from "../system/git/git-merge.ts";
import { refuseUnsignedFeeds } from "../trust/feeds/sign-feeds.ts";
import { holdOn, refuseOwnMachine } from "./guards.ts";
import { readLiveSite } from "./live-site.ts";
import { readLocal } from "./local-build.ts";
import { provePushed } from "./publish.ts";
import type { PublishOptions, SiteAccess } from "./publish-build.ts";
import { requireArtifacts } from "./require-artifacts.ts";
import { openSite } from "./stores/site-store.ts";

/** How a site's settings decide the steps of a release. */
export interface ReleaseSteps {
  /** Address that readers use. */
  baseUrl: string;
  /** Whether its content is permanent. */
  settles: boolean;
  /** Whether a cut can be committed. */
  isCommitted: boolean;
  /** Reason why nothing is signed; undefined: the site is signed. */
  unsigned: string | undefined;
}

/**
 * Decides which steps a release to a site has.
 * @throws RelcatError site-unknown; build-other-site: no step could publish there, so nothing is cut for it
 */
export async function releaseSteps(
  releases: string,
  name: string,
  { environment, pid }: SiteAccess,
): Promise<ReleaseSteps> {
  const config = await loadConfiguration(releases, undefined);
  const site = siteNamed(config, name);
  const isCommitted = isInRepository(releases);
  const { baseUrl, settles } = site;
  const steps = { baseUrl, settles, isCommitted, unsigned: undefined };
  if (settles) refuseOwnMachine(site);
  if (config.trust.profile === "none") return { ...steps, unsigned: "catalog.yaml has trust: none" };
  if (settles) return steps;
  // A site whose readers check signatures must stay signed.
  const stored = await (await openSite(site, environment, pid)).readState();
  return { ...steps, unsigned: stored?.state.signed ? undefined : `${name} has settles: false` };
}

/**
 * Tries what can be tried of a publish before the cut, with a build of the open release.
 * @param out folder of the build
 * @returns the hold that would keep it back; null: none
 * @throws RelcatError feed-unsigned, artifact-unpublished
 */
export async function tryOpenRelease(
  releases: string,
  name: string,
  out: string,
  { environment, pid }: SiteAccess,
): Promise<SiteState["hold"]> {
  const site = siteNamed(await loadConfiguration(releases, undefined), name);
  const store = await openSite(site, environment, pid);
  const local = readLocal(out, site);
  refuseUnsignedFeeds(local.document);
  const stored = await store.readState();
  const live = await readLiveSite(store, stored?.state, { hosting: undefined, isRead: false });
  const ledger = readLedgerNow(releases);
  await requireArtifacts({
    site,
    store,
    local,
    ledger,
    live: live.published ?? live.index,
    artifactsKnown: false,
  });
  return stored ? holdOn(local.document, stored.state) : null;
}

/**
 * Refuses to continue after a cut while the base branch lacks its lines; publishing would refuse them later.
 * A site that does not settle, and a folder without a base, pass.
 * @throws RelcatError ledger-unpushed
 */
export async function requirePushed(
  releases: string,
  name: string,
  options: Pick<PublishOptions, "allowUnpushed" | "environment" | "now">,
): Promise<void> {
  const config = await loadConfiguration(releases, undefined);
  if (siteNamed(config, name).settles) await provePushed(releases, config, readLedgerNow(releases), options);
}

/** True if new ledger lines must reach a base branch before the site shows them. */
export async function needsPush(releases: string, name: string): Promise<boolean> {
  const config = await loadConfiguration(releases, undefined);
  if (!siteNamed(config, name).settles) return false;
  return (await findLedgerBase(releases, config.ledgerBase))?.found.base !== undefined;
}

/** The commands that bring the commits of this checkout to the base branch, in order. */
export async function commandsToPush(releases: string): Promise<string[]> {
  const { ledgerBase } = await loadConfiguration(releases, undefined);
  const branch = await branchOf(releases);
  const merge = (await isMergedIn(releases, ledgerBase)) ? [] : [`git merge ${ledgerBase}`];
  const [, remote, name] = /^([^/]+)\/(.+)$/.exec(ledgerBase) ?? [];
  if (remote === undefined || name === undefined || branch === undefined)
    return [...merge, `merge the commit into ${ledgerBase}`];
  const push = [...merge, `git push ${remote} ${branch}`];
  return branch === name ? push : [...push, `merge ${branch} into ${name}`, `git switch ${name} && git pull`];
}
