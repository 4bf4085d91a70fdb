import { RelcatError, throwErrors } from "../../shared/errors.ts";
import type { BuildDocument } from "../documents/site.ts";
import type { HistoryEntry } from "../documents/site-state.ts";
import type { StoredState } from "../documents/site-store.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { findLedgerBase, refuseUnpushed } from "../ledger/ledger-base.ts";
import { unmergedMetadata } from "../ledger/settled-metadata.ts";
import { refuseUncommitted, uncommittedSources } from "../ledger/uncommitted.ts";
import type { ProjectSettings } from "../project/settings.ts";
import { refuseStaleBuild } from "../trust/built-site.ts";
import { requireClock } from "../trust/clock.ts";
import { readLiveChain } from "../trust/live-metadata.ts";
import type { SignedRoot } from "../trust/metadata.ts";
import { requireTrust } from "../trust/stores/trust-folder.ts";
import type { LiveSite } from "./live-site.ts";
import type { LocalBuild } from "./local-build.ts";
import type { Publishing, PublishOptions } from "./open-publishing.ts";
import {
  refuseEndedSignatures,
  refuseForged,
  refuseHeld,
  refuseOlderLedger,
  refuseOlderSignatures,
  refuseOvertaken,
  refuseTaken,
  refuseUnfitBuild,
  refuseUnsigned,
  requireCorrections,
  requireSameOrigins,
  unsigned,
} from "./refusals.ts";
import { type CheckedArtifacts, newArtifacts, requireArtifacts } from "./require-artifacts.ts";
import { type EarlierOffers, refuseHalted, refuseRetracted } from "./restore-build.ts";
import { leaseLost, type PublishContext } from "./turn.ts";

/** A reason not to publish, for the situations to which it applies. */
interface Guard<Situation> {
  /** For a check before a release that has the same reason. */
  name?: string;
  reason: string;
  /** undefined: always. */
  applies?: (situation: Situation) => boolean;
  /** @param remarks receives what the report needs. @throws RelcatError if the guard refuses */
  check(situation: Situation, remarks: Remarks): unknown;
}

/** Findings of guards that let a build pass. */
interface Remarks {
  /** Reason why git cannot tell whether the base has the ledger lines, in one line. */
  unproved?: string | undefined;
  /** Reason of --allow-unpushed, if it was needed. */
  unpushed?: string | undefined;
  /** Files that the build was made from and that are not committed. */
  uncommitted: readonly string[];
  /** Live metadata without a signature valid for our newest root. */
  unverified: string[];
  checked?: CheckedArtifacts;
}

/** Before anything is signed, or read from the site. */
interface BuildSituation extends Publishing {
  action: HistoryEntry["action"];
  options: PublishOptions;
  ledger: Ledger;
  document: BuildDocument;
  /** The build in the output folder. Another one is not yet signed. */
  local?: LocalBuild;
  earlier?: EarlierOffers & { isBuiltHere: boolean };
}

/** When the state of the site is known. */
export interface SiteSituation extends Publishing {
  publishContext: PublishContext;
  options: PublishOptions;
  ledger: Ledger;
  local: LocalBuild;
  /** Newest root of `releases/trust/`; undefined: signing is not set up. */
  root: SignedRoot | undefined;
  stored: StoredState | undefined;
}

/** When the live files were compared with the build. */
interface ChangeSituation extends SiteSituation {
  live: LiveSite;
}

const isPublished = ({ site, publishContext }: SiteSituation) =>
  site.settles && publishContext.action === "publish";
const isSigned = ({ local }: SiteSituation) => local.signed !== null;

/** All guards of publish, rollback and refresh, in the order in which they run. */
export const guards: {
  build: readonly Guard<BuildSituation>[];
  state: readonly Guard<SiteSituation>[];
  changes: readonly Guard<ChangeSituation>[];
} = {
  build: [
    {
      reason: "readers must reach the site at the address that its documents name, and find only what is cut",
      check: ({ document, site }) => refuseUnfitBuild(document, site),
    },
    {
      reason: "git must be able to tell which files are committed",
      applies: ({ local }) => local !== undefined,
      async check({ project, ledger, document }, remarks) {
        const versions = new Set([...ledger.versions, ...document.provisional]);
        remarks.uncommitted = await uncommittedSources(project.folder, versions);
      },
    },
    {
      reason: "readers of a signed site check signatures",
      applies: ({ local, site, project }) =>
        local !== undefined && site.settles && project.config.trust.profile !== "none",
      async check({ local, site, project }) {
        if (!local) return;
        refuseUnsigned(local, site.name);
        await refuseForged(local, requireTrust(project.folder).root, site.name);
      },
    },
    {
      reason: "withdrawals since the build would be missing",
      applies: ({ local, site }) => local !== undefined && site.settles,
      check: ({ document, ledger }) => refuseStaleBuild(document, ledger),
    },
    {
      reason: "ids are permanent, so other checkouts must have their ledger lines",
      applies: ({ local, earlier, site }) =>
        site.settles && (local !== undefined || earlier?.isBuiltHere === true),
      async check({ project, ledger, options }, remarks) {
        Object.assign(remarks, await provePushed(project, ledger, options));
      },
    },
    {
      // sign compared a signed build; an older commit and a stated exception are not compared.
      reason: "metadata of cut artifacts changes only after a merge",
      applies: ({ local, site, options }) =>
        site.settles && local?.signed === null && local.document.at === undefined && !options.allowUnpushed,
      async check({ project: { folder, config } }) {
        const base = await findLedgerBase(folder, config.ledgerBase);
        if (base) throwErrors(await unmergedMetadata(folder, base));
      },
    },
    {
      reason: "anyone must be able to build the site again from git",
      applies: ({ local }) => local !== undefined,
      check({ project, document, site, options }, remarks) {
        // A build of an earlier commit takes only the ledger from the checkout.
        remarks.uncommitted = remarks.uncommitted.filter((path) =>
          path === "ledger.jsonl" ? remarks.unpushed === undefined : document.at === undefined,
        );
        if (site.settles && options.allowUncommitted === undefined)
          refuseUncommitted(project.folder, remarks.uncommitted);
      },
    },
    {
      reason: "an earlier build must not offer records that were withdrawn since",
      applies: ({ earlier }) => earlier !== undefined,
      check: ({ earlier, ledger }) => earlier && refuseRetracted(earlier, ledger),
    },
    {
      reason: "an earlier build must not offer a release in a channel that has halted it since",
      applies: ({ earlier }) => earlier !== undefined,
      check: ({ earlier, ledger, project }) =>
        earlier && refuseHalted(earlier, ledger, project.config.channels),
    },
  ],
  state: [
    {
      name: "turn",
      reason: "two publishers must not work on the site at the same time",
      check({ stored, publisher, options }) {
        if (stored) refuseTaken(stored.state, { now: options.now(), publisher });
      },
    },
    {
      name: "ledger",
      reason: "new ids must follow those that the site has",
      applies: ({ site, publishContext }) => site.settles && publishContext.action !== "refresh",
      check: ({ stored, ledger, site }) => stored && refuseOlderLedger(ledger, stored.state, site),
    },
    {
      name: "commit",
      reason: "a checkout that is older than the live build must not replace it",
      applies: isPublished,
      check: ({ stored, publishContext, site }) =>
        stored &&
        publishContext.isOvertaken &&
        refuseOvertaken(publishContext.isOvertaken, stored.state, site),
    },
    {
      name: "hold",
      reason: "a rollback keeps newer builds back until someone releases the hold",
      applies: (situation) => isPublished(situation) && !situation.options.releaseHold,
      check: ({ stored, local, site }) => stored && refuseHeld(local, stored.state, site),
    },
    {
      name: "clock",
      reason: "clients reject signatures of another day",
      applies: isSigned,
      check({ local, store, site, options }) {
        requireClock(options.now(), store.clockOffset(), {});
        refuseEndedSignatures(local, site.name, options.now());
      },
    },
    {
      reason: "the build was chosen by a state that another publisher has replaced since",
      applies: ({ publishContext }) => publishContext.chosenBy !== undefined,
      check({ stored, publishContext, site }) {
        if (stored?.tag !== publishContext.chosenBy) throw leaseLost(site);
      },
    },
  ],
  changes: [
    {
      name: "names",
      reason: "package managers stop updating if Origin, Label or the address of the certificate changes",
      applies: (situation) => isPublished(situation) && !situation.options.allowChangedOrigin,
      check: ({ store, live, local, site }) =>
        requireSameOrigins(store, live.index?.files ?? {}, local, site.name),
    },
    {
      name: "notes",
      reason: "notes that readers have seen change only with the day of the correction",
      applies: (situation) => isPublished(situation) && situation.local.document.at === undefined,
      check: ({ store, live, local, site, options }) =>
        requireCorrections(store, live.published ?? live.index, local, {
          site: site.name,
          now: options.now(),
        }),
    },
    {
      name: "signed",
      reason: "a signed site must stay signed, because its readers check signatures",
      applies: ({ local, stored }) => local.signed === null && Boolean(stored?.state.signed),
      check({ local, site, project }) {
        throw unsigned(local.folder, site.name, project.config);
      },
    },
    {
      reason: "clients remember the highest versions of metadata and reject lower ones",
      applies: isSigned,
      async check({ local, store, root, site }, remarks) {
        if (!root) return;
        const { timestamp, snapshot, unverified } = await readLiveChain(store, root);
        if (timestamp && snapshot) refuseOlderSignatures(local, { timestamp, snapshot }, site.name);
        remarks.unverified = unverified;
      },
    },
    {
      name: "artifacts",
      reason: "every artifact that becomes public must be uploaded, with the size and digest of its record",
      async check({ live, options, ...situation }, remarks) {
        const { artifactsKnown = false } = options;
        const named = await newArtifacts(situation, live, artifactsKnown);
        const { site, store, publishContext } = situation;
        const isStaged = !site.settles && publishContext.action === "publish";
        const settlingSites = isStaged ? situation.settlingSites : [];
        remarks.checked = await requireArtifacts(named, { site, store, settlingSites });
      },
    },
  ],
};

export function reasonOf(name: string): string {
  const guard = Object.values(guards)
    .flat()
    .find((each) => each.name === name);
  if (!guard) throw new TypeError(`there is no guard ${name}`);
  return guard.reason;
}

/** Runs guards one after the other, until one refuses. @throws RelcatError */
export async function passGuards<Situation>(list: readonly Guard<Situation>[], situation: Situation) {
  const remarks: Remarks = { uncommitted: [], unverified: [] };
  for (const { applies, check } of list) if (applies?.(situation) ?? true) await check(situation, remarks);
  return remarks;
}

/** The base branch must have the ledger lines, unless --allow-unpushed is given. @throws RelcatError ledger-unpushed */
export async function provePushed(
  { folder, config }: ProjectSettings,
  ledger: Ledger,
  { allowUnpushed }: Pick<PublishOptions, "allowUnpushed">,
): Promise<Pick<Remarks, "unproved" | "unpushed">> {
  const base = await findLedgerBase(folder, config.ledgerBase);
  if (!base) return {};
  try {
    const unproved = await refuseUnpushed(ledger, base);
    return { unproved, unpushed: unproved === undefined ? undefined : allowUnpushed };
  } catch (error) {
    const isAllowed = error instanceof RelcatError && allowUnpushed !== undefined;
    if (!isAllowed) throw error;
    return { unpushed: allowUnpushed };
  }
}
