import { RelcatError, throwErrors } from "../../shared/errors.ts";
import type { Settings } from "../documents/config.ts";
import type { TrustProfile } from "../documents/trust.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { findLedgerBase, refuseUnpushed } from "../ledger/ledger-base.ts";
import { readLedgerNow } from "../ledger/ledger-file.ts";
import { refuseUncommitted, uncommittedSources } from "../ledger/uncommitted.ts";
import { unmergedMetadata } from "../ledger/unmerged-metadata.ts";
import { openSettings, siteNamed } from "../project/settings.ts";
import { headOf, isBefore } from "../system/git/git-head.ts";
import { withOutputLock } from "../system/lock.ts";
import type { Surroundings } from "../system/surroundings.ts";
import { refuseStaleBuild, requireBuild } from "../trust/built-site.ts";
import { findRoot, requireRoot } from "../trust/stores/trust-folder.ts";
import { refuseUnfitBuild, refuseUnsigned } from "./guards.ts";
import { readLocal } from "./local-build.ts";
import { refuseForged } from "./proved-local.ts";
import { type PublishDelivery, type PublishOptions, publishBuild } from "./publish-build.ts";
import type { SettlingSite } from "./settled-artifacts.ts";
import { thisPublisher } from "./stores/publishers.ts";
import { openSite } from "./stores/site-store.ts";
import type { Occasion } from "./turn.ts";

/** Remarks for people. */
export interface PublishNotes {
  trust: TrustProfile;
  /** Whether readers can check what was published. */
  isSigned: boolean;
  /** Reason why git cannot tell whether the base has the ledger lines, in one line. */
  unproved: string | undefined;
}

/**
 * Publishes the built site in `out`. Readers never see a half-published site, an older build never replaces a
 * newer one, and publishing twice is safe.
 * @throws RelcatError if a guard refuses, before any change; site-taken, storage-refused, network;
 * hook-failed
 */
export async function publishSite(
  releases: string,
  out: string,
  name: string,
  options: PublishOptions,
  surroundings: Pick<Surroundings, "pid" | "onWait">,
): Promise<PublishDelivery & PublishNotes> {
  const config = (await openSettings(releases)).config;
  requireBuild(out);
  const site = siteNamed(config, name);
  const store = await openSite(site, options.environment, surroundings.pid);
  const ledger = readLedgerNow(releases);
  const head = await headOf(releases);
  return withOutputLock(out, surroundings.pid, surroundings.onWait, async () => {
    const local = readLocal(out, site);
    refuseUnfitBuild(local.document, site);
    const { at, provisional } = local.document;
    const sources = await uncommittedSources(releases, new Set([...ledger.versions, ...provisional]));
    if (config.trust.profile !== "none" && site.settles) {
      refuseUnsigned(local, name);
      await refuseForged(local, requireRoot(releases), name);
    }
    if (site.settles) refuseStaleBuild(local.document, ledger);
    const pushed = site.settles ? await provePushed(releases, config, ledger, options) : {};
    // sign compared a signed build; an older commit and a stated exception are not compared.
    if (site.settles && local.signed === null && local.document.at === undefined && !options.allowUnpushed)
      await refuseUnmerged(releases, config);
    // A build of an earlier commit takes only the ledger from the checkout.
    const uncommitted = sources.filter((path) =>
      path === "ledger.jsonl" ? pushed.allowed === undefined : at === undefined,
    );
    if (site.settles && options.allowUncommitted === undefined) refuseUncommitted(releases, uncommitted);
    const publisher = thisPublisher(options.environment, surroundings.pid);
    const settlingSites = site.settles ? [] : settlingSitesOf(config, options.environment, surroundings.pid);
    const occasion: Occasion = {
      action: "publish",
      commit: (uncommitted.length === 0 && head) || null,
      unpushed: pushed.allowed,
      uncommitted: site.settles && uncommitted.length > 0 ? options.allowUncommitted : undefined,
      isOvertaken: async (commit) => head !== undefined && isBefore(releases, head, commit),
    };
    const done = await publishBuild(
      { site, store, ledger, local, publisher, trust: config.trust, root: findRoot(releases), settlingSites },
      occasion,
      options,
    );
    return {
      ...done,
      trust: config.trust.profile,
      isSigned: local.signed !== null,
      unproved: pushed.unproved,
    };
  });
}

/**
 * Verifies that the base branch has the ledger lines.
 * @returns the reason if git cannot tell, and the reason of --allow-unpushed if it was needed
 * @throws RelcatError ledger-unpushed
 */
export async function provePushed(
  releases: string,
  { ledgerBase }: Settings,
  ledger: Ledger,
  { allowUnpushed }: Pick<PublishOptions, "allowUnpushed">,
): Promise<{ unproved?: string | undefined; allowed?: string | undefined }> {
  const base = await findLedgerBase(releases, ledgerBase);
  if (!base) return {};
  try {
    const unproved = await refuseUnpushed(ledger, base);
    return { unproved, allowed: unproved === undefined ? undefined : allowUnpushed };
  } catch (error) {
    const isAllowed = error instanceof RelcatError && allowUnpushed !== undefined;
    if (!isAllowed) throw error;
    return { allowed: allowUnpushed };
  }
}

/** @throws RelcatError metadata-changed */
async function refuseUnmerged(releases: string, { ledgerBase }: Settings): Promise<void> {
  const base = await findLedgerBase(releases, ledgerBase);
  if (base) throwErrors(await unmergedMetadata(releases, base));
}

export const settlingSitesOf = (
  { sites }: Settings,
  environment: PublishOptions["environment"],
  pid: number,
): SettlingSite[] =>
  [...sites.values()]
    .filter(({ settles }) => settles)
    .map((site) => ({ name: site.name, open: () => openSite(site, environment, pid) }));
