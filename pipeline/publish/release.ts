import { findLedgerBase } from "../ledger/ledger-base.ts";
import { readLedgerNow } from "../ledger/ledger-file.ts";
import { loadConfig } from "../project/configuration.ts";
import { siteNamed } from "../project/site-named.ts";
import { isInRepository } from "../system/git/git.ts";
import { branchOf } from "../system/git/git-head.ts";
import { isMergedIn } from "../system/git/git-merge.ts";
import { provePushed } from "./publish.ts";
import type { PublishOptions, SiteAccess } from "./publish-build.ts";
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
 * @throws RelcatError site-unknown
 */
export async function releaseSteps(
  releases: string,
  name: string,
  { environment, pid }: SiteAccess,
): Promise<ReleaseSteps> {
  const config = await loadConfig(releases);
  const site = siteNamed(config, name);
  const isCommitted = isInRepository(releases);
  const { baseUrl, settles } = site;
  const steps = { baseUrl, settles, isCommitted, unsigned: undefined };
  if (config.trust.profile === "none") return { ...steps, unsigned: "catalog.yaml has trust: none" };
  if (settles) return steps;
  // A site whose readers check signatures must stay signed.
  const stored = await (await openSite(site, environment, pid)).readState();
  return { ...steps, unsigned: stored?.state.signed ? undefined : `${name} has settles: false` };
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
  const config = await loadConfig(releases);
  if (siteNamed(config, name).settles) await provePushed(releases, config, readLedgerNow(releases), options);
}

/** True if new ledger lines must reach a base branch before the site shows them. */
export async function needsPush(releases: string, name: string): Promise<boolean> {
  const config = await loadConfig(releases);
  if (!siteNamed(config, name).settles) return false;
  return (await findLedgerBase(releases, config.ledgerBase))?.found.base !== undefined;
}

/** The commands that bring the commits of this checkout to the base branch, in order. */
export async function commandsToPush(releases: string): Promise<string[]> {
  const { ledgerBase } = await loadConfig(releases);
  const branch = await branchOf(releases);
  const merge = (await isMergedIn(releases, ledgerBase)) ? [] : [`git merge ${ledgerBase}`];
  const [, remote, name] = /^([^/]+)\/(.+)$/.exec(ledgerBase) ?? [];
  if (remote === undefined || name === undefined || branch === undefined)
    return [...merge, `merge the commit into ${ledgerBase}`];
  const push = [...merge, `git push ${remote} ${branch}`];
  return branch === name ? push : [...push, `merge ${branch} into ${name}`, `git switch ${name} && git pull`];
}
