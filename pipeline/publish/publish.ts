import type { PublishDelivery } from "../documents/outputs/sites.ts";
import type { TrustProfile } from "../documents/trust.ts";
import { readLedgerNow } from "../ledger/ledger-file.ts";
import type { ProjectSettings } from "../project/settings.ts";
import { headOf, isBefore } from "../system/git/git-head.ts";
import { type CommandContext, withOutputLock } from "../system/lock.ts";
import { requireBuild } from "../trust/built-site.ts";
import { readTrust } from "../trust/stores/trust-folder.ts";
import { guards, passGuards } from "./guards.ts";
import { readLocal } from "./local-build.ts";
import { openPublishing, type PublishOptions } from "./open-publishing.ts";
import { publishBuild } from "./publish-build.ts";
import type { PublishContext } from "./turn.ts";

export interface PublishNotes {
  trust: TrustProfile;
  isSigned: boolean;
  /** Reason why git cannot tell whether the base has the ledger lines, in one line. */
  unproved: string | undefined;
}

/**
 * Readers never see a half-published site, an older build never replaces a newer one, and publishing twice is safe.
 * @throws RelcatError if a guard refuses, before any change; site-taken, storage-refused, network, hook-failed
 */
export async function publishSite(
  project: ProjectSettings,
  out: string,
  name: string,
  options: PublishOptions,
  { pid, onWait }: Pick<CommandContext, "pid" | "onWait">,
): Promise<PublishDelivery & PublishNotes> {
  requireBuild(out);
  const { environment, allowUncommitted } = options;
  const publishing = await openPublishing(project, name, { environment, pid });
  const { site } = publishing;
  const { folder, config } = project;
  const ledger = readLedgerNow(folder);
  const head = await headOf(folder);
  return withOutputLock(out, pid, onWait, async () => {
    const local = readLocal(out, site);
    const given = { ...publishing, ledger, local, options };
    const build = { ...given, action: "publish", document: local.document } as const;
    const { unproved, unpushed, uncommitted } = await passGuards(guards.build, build);
    const publishContext: PublishContext = {
      action: "publish",
      commit: (uncommitted.length === 0 && head) || null,
      unpushed,
      uncommitted: site.settles && uncommitted.length > 0 ? allowUncommitted : undefined,
      isOvertaken: async (commit) => head !== undefined && isBefore(folder, head, commit),
    };
    const done = await publishBuild({ ...given, publishContext, root: readTrust(folder)?.root });
    return { ...done, trust: config.trust.profile, isSigned: local.signed !== null, unproved };
  });
}
