import { join } from "node:path";
import { failure } from "../../shared/errors.ts";
import type { Settings } from "../documents/config.ts";
import type { PublishDelivery } from "../documents/outputs/sites.ts";
import type { BuildDocument } from "../documents/site.ts";
import { type HistoryEntry, type SiteState, timestampOf } from "../documents/site-state.ts";
import { readLedgerNow } from "../ledger/ledger-file.ts";
import type { ProjectSettings } from "../project/settings.ts";
import { hasSiblings } from "../site/stores/precompress.ts";
import { writeSibling } from "../site/stores/siblings.ts";
import { inParallel } from "../system/in-parallel.ts";
import type { CommandContext } from "../system/lock.ts";
import { withWorkFolder } from "../system/work-folder.ts";
import { readBuild } from "../trust/built-site.ts";
import { signProved, signSite } from "../trust/sign-site.ts";
import { readTrust, requireTrust } from "../trust/stores/trust-folder.ts";
import { guards, passGuards, type SiteSituation } from "./guards.ts";
import { readLocal } from "./local-build.ts";
import { openPublishing, type PublishOptions, stateOf } from "./open-publishing.ts";
import { publishBuild } from "./publish-build.ts";
import { shortId } from "./refusals.ts";
import { offersIn, type RestoredBuild, restoreBuild, unknownBuild } from "./restore-build.ts";
import { metadataOf } from "./stores/kept-build.ts";
import { type PublishContext, unlessTaken } from "./turn.ts";

export interface RollbackOptions extends PublishOptions {
  /** First digits of the build id; default: the previous build. */
  to?: string | undefined;
  /** Folder with a build of an earlier commit, used instead of a stored build. */
  out?: string | undefined;
  /** Shown to anyone who tries to publish during the hold. */
  reason: string;
}

/**
 * Republishes an earlier build with new signatures and puts the site on hold.
 * @throws RelcatError site-empty, build-unknown, build-retracted, and whatever `publishSite` throws
 */
export async function rollbackSite(
  project: ProjectSettings,
  name: string,
  options: RollbackOptions,
  context: Pick<CommandContext, "pid" | "onWait">,
): Promise<PublishDelivery & { commit: string | null; isSigned: boolean; settles: boolean }> {
  const { environment, now, out } = options;
  const publishing = await openPublishing(project, name, { environment, pid: context.pid });
  const { site, store, publisher } = publishing;
  const { state, tag } = await stateOf(publishing);
  const ledger = readLedgerNow(project.folder);
  const isSigned = project.config.trust.profile !== "none" && site.settles;
  return withWorkFolder(async (work) => {
    const folder = out ?? work;
    const earlier =
      out === undefined
        ? await unlessTaken(
            site,
            store,
            (now) => now.tag === tag,
            () => restoreChosen({ project, site, store, ledger }, isSigned, chosen(state, options.to), work),
          )
        : builtEarlier(out);
    const { document, offers, commit } = earlier;
    const hint = rebuildWithoutWithdrawn(name, commit);
    await passGuards(guards.build, {
      ...{ ...publishing, action: "rollback", options, ledger, document },
      // Built locally with the current ledger, whose lines become public as in any publish.
      earlier: { offers, hint, isBuiltHere: out !== undefined },
    });
    await options.onStep?.("sign");
    if (isSigned && !(options.dryRun && out)) {
      const signing = { live: metadataOf(store), environment, now: now() };
      if (earlier.proved === undefined) await signSite(project, folder, signing, context);
      else await signProved(project, folder, earlier.proved, signing, context);
    }
    const publishContext: PublishContext = {
      action: "rollback",
      hold: { reason: options.reason, by: publisher.name, since: timestampOf(now()), commit },
      commit,
      chosenBy: tag,
      ...(out === undefined && { ledger: "kept" }),
    };
    const local = readLocal(folder, site);
    const root = readTrust(project.folder)?.root;
    const done = await publishBuild({ ...publishing, ledger, local, root, publishContext, options });
    return { ...done, commit, isSigned, settles: site.settles };
  });
}

const rebuildWithoutWithdrawn = (name: string, commit: string | null): string =>
  `Build it again with today's ledger, and go back to that: ${rebuildHint(name, { commit })}`;

const rebuildHint = (name: string, entry: Pick<HistoryEntry, "commit">): string =>
  `relcat build --released --site ${name} --at ${commitOf(entry)} --out earlier, then relcat rollback ${name} --out earlier --reason TEXT`;

interface EarlierBuild extends Omit<RestoredBuild, "id"> {
  commit: string | null;
  /** SHA-256 of a build.json covered by our signatures; undefined: it must be compared with the checkout. */
  proved?: string;
}

async function restoreChosen(
  { project, site, store, ledger }: Pick<SiteSituation, "project" | "site" | "store" | "ledger">,
  isSigned: boolean,
  entry: HistoryEntry,
  work: string,
): Promise<EarlierBuild> {
  const { name, place } = site;
  const root = isSigned ? requireTrust(project.folder).root : undefined;
  const hint = `Go back to another build with --to, or build this one again from its commit: ${rebuildHint(name, entry)}`;
  const { id, document, offers } = await restoreBuild({ site, store, ledger, entry, root, hint }, work);
  if (place.kind === "dir") await compressAgain(work, document, project.config.precompress);
  return { document, offers, commit: document.at ?? entry.commit, proved: id };
}

/** Compressed siblings are unsigned, so they are created again instead of restored. */
async function compressAgain(folder: string, { files }: BuildDocument, encodings: Settings["precompress"]) {
  const sources = Object.entries(files).map(([path, { size }]) => ({ path, size }));
  const siblings = sources
    .filter(hasSiblings)
    .flatMap((source) => Array.from(encodings, (encoding) => ({ ...source, encoding })));
  await inParallel(siblings, 2, (sibling, index) =>
    // biome-ignore lint/plugin: a number.
    writeSibling(folder, join(folder, `.relcat-tmp-${index}`), sibling),
  );
}

/** The history comes from untrusted storage, so only a well-formed commit id is repeated. */
export const commitOf = ({ commit }: Pick<HistoryEntry, "commit">): string =>
  commit !== null && /^[0-9a-f]{40}$/.test(commit) ? commit.slice(0, 12) : "COMMIT";

function builtEarlier(out: string): EarlierBuild {
  const { document } = readBuild(out);
  return { document, offers: offersIn(out, document), commit: document.at ?? null };
}

function chosen(state: SiteState, to: string | undefined): HistoryEntry {
  const { history, build } = state;
  if (to !== undefined) {
    const named = to === "" ? undefined : history.find((entry) => entry.build.startsWith(to));
    if (named) return named;
    throw unknownBuild(to, "was never published there, or is no longer kept");
  }
  // An interrupted rollback is completed, not rolled back itself.
  const isHalfWay = state.state === "publishing" && state.action === "rollback";
  if (!isHalfWay) refuseTwice(state);
  const left = new Set(
    history.flatMap((entry, index) => (entry.action === "rollback" ? (history[index + 1]?.build ?? []) : [])),
  );
  const found = isHalfWay
    ? history.find((entry) => entry.build === build)
    : history.find((entry) => entry.build !== history[0]?.build && !left.has(entry.build));
  if (found) return found;
  throw failure(
    "build-unknown",
    "there is no earlier build to go back to",
    "The first one is live. Withdraw packages with: relcat retract",
  );
}

function refuseTwice({ history: [last], hold }: SiteState): void {
  if (!hold || (last?.action !== "rollback" && last?.action !== "refresh")) return;
  throw failure(
    "site-held",
    `the site was already rolled back, to build ${shortId(last.build)}, and is held there: ${hold.reason}`,
    "To go further back, name the build with --to: relcat history lists them.",
  );
}
