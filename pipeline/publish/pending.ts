import { type Config, usualKey } from "../documents/config.ts";
import { type Changes, writtenFiles } from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { runHook } from "../system/hooks.ts";
import { listAddress } from "../trust/site-files.ts";
import { announcement, purgeLines } from "./announcements.ts";
import type { LocalBuild } from "./local-build.ts";
import type { Turn } from "./turn.ts";

type Trust = Config["trust"];

/**
 * Runs the programs that are named for what is live and have not been run; one that fails is run again next time.
 * @param changes undefined: of an earlier run, and nobody knows any more what changed: everything that may
 * @throws RelcatError hook-failed, site-taken
 */
export async function runPending(
  { site, local, trust }: { site: SiteSettings; local: LocalBuild; trust: Trust },
  turn: Turn,
  changes: Changes | undefined,
): Promise<void> {
  const { state } = turn;
  const { pending } = state;
  if (!pending) return;
  // Who tells others has nothing to sign.
  const hidden = [usualKey, ...("env" in trust.online ? [trust.online.env] : [])];
  const run = { folder: site.folder, hidden };
  if (pending.purge && site.purge) {
    const files = changes ? writtenFiles(changes) : local.files;
    const cached = files.filter(({ isImmutable }) => !isImmutable).map(({ path }) => path);
    const paths = [...cached, ...(changes?.removed ?? [])];
    const served = paths.filter((path) => path !== listAddress);
    await runHook(`the purge of ${site.name}`, site.purge, purgeLines(site.baseUrl, served), run);
  }
  if (pending.announce.length > 0 && site.afterPublish) {
    const news = announcement(site, local, state, pending.announce);
    await runHook(`after_publish of ${site.name}`, site.afterPublish, news, run);
  }
  await turn.write({ ...state, pending: null });
}
