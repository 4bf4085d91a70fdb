import { failure } from "../../shared/errors.ts";
import type { PublishDelivery } from "../documents/outputs/sites.ts";
import type { SiteStore } from "../documents/site-store.ts";
import { readLedgerNow } from "../ledger/ledger-file.ts";
import type { ProjectSettings } from "../project/settings.ts";
import type { CommandContext } from "../system/lock.ts";
import { withWorkFolder } from "../system/work-folder.ts";
import { newerThanLive, readLiveMetadata } from "../trust/live-metadata.ts";
import type { SignedRoot } from "../trust/metadata.ts";
import { requireSigning, signProved } from "../trust/sign-site.ts";
import { timestampPath } from "../trust/site-files.ts";
import { requireTrust } from "../trust/stores/trust-folder.ts";
import { guards, passGuards } from "./guards.ts";
import { readLocal } from "./local-build.ts";
import { openPublishing, type PublishOptions, stateOf } from "./open-publishing.ts";
import { publishBuild } from "./publish-build.ts";
import { shortId } from "./refusals.ts";
import { restoreBuild } from "./restore-build.ts";
import { commitOf } from "./rollback.ts";
import { metadataOf } from "./stores/kept-build.ts";
import { unlessTaken } from "./turn.ts";

/**
 * Renews the signatures of the live build and nothing else: a hold stays, and no newer build is published.
 * @throws RelcatError site-empty, build-unknown, trust-missing, and whatever `publishSite` throws
 */
export async function refreshSite(
  project: ProjectSettings,
  name: string,
  options: PublishOptions,
  context: Pick<CommandContext, "pid" | "onWait">,
): Promise<PublishDelivery> {
  const { environment, now } = options;
  const publishing = await openPublishing(project, name, { environment, pid: context.pid });
  const { site, store } = publishing;
  const { state, tag } = await stateOf(publishing);
  const [entry] = state.history;
  if (!entry || state.state !== "done") {
    throw failure(
      "site-taken",
      `${name} is between two builds: ${state.publisher} began to publish ${shortId(state.build)}`,
      `Finish that first: relcat publish ${name}, or the rollback that was stopped.`,
    );
  }
  requireSigning(project.config);
  const root = requireTrust(project.folder).root;
  const ledger = readLedgerNow(project.folder);
  const live = await provedSnapshot(store, root, name);
  return withWorkFolder(async (folder) => {
    const at = state.hold === null ? "" : ` --at ${commitOf(entry)}`;
    const hint = rebuildHint(name, at);
    const { id, document, offers } = await unlessTaken(
      site,
      store,
      (now) => now.tag === tag,
      () => restoreBuild({ site, store, entry, ledger, root, live, hint }, folder),
    );
    const earlier = { offers, hint, isBuiltHere: false };
    const given = { ...publishing, ledger, options };
    await passGuards(guards.build, { ...given, action: "refresh", document, earlier });
    await options.onStep?.("sign");
    const signing = { live: metadataOf(store), environment, now: now() };
    await signProved(project, folder, id, signing, context);
    const publishContext = {
      action: "refresh",
      commit: entry.commit,
      ledger: "kept",
      chosenBy: tag,
    } as const;
    return publishBuild({ ...given, local: readLocal(folder, site), root, publishContext });
  });
}

const rebuildHint = (name: string, at: string): string =>
  `Build and sign from the checkout instead: relcat build --released --site ${name}${at}, relcat sign --site ${name}, relcat publish ${name}`;

/** The live metadata must verify from its timestamp on, and be the newest signed. @throws RelcatError build-unproved */
async function provedSnapshot(store: SiteStore, root: SignedRoot, name: string) {
  const source = metadataOf(store);
  const live = await readLiveMetadata(source, root);
  const [path] = live.timestamp ? live.unverified : [timestampPath];
  const refused = (what: string) =>
    failure("build-unproved", `${store.place}: ${what}`, `Nothing was changed. ${rebuildHint(name, "")}`);
  if (path !== undefined)
    throw refused(
      `${path} is missing, or is not signed by the online key of the newest root in releases/trust`,
    );
  const newer = await newerThanLive(source, live, root);
  if (newer === undefined) return live.snapshot;
  throw refused(
    `${newer} is signed and newer than the live build: an earlier state was put back, or a publish was interrupted`,
  );
}
