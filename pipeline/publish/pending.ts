import { isFolderAddress } from "../documents/relative-path.ts";
import { usualKey, usualOpenPgpKey } from "../documents/signers.ts";
import { type Changes, writtenFiles } from "../documents/site-store.ts";
import { runHook } from "../system/hooks.ts";
import { announcement, purgeLines } from "./announcements.ts";
import type { LocalBuild } from "./local-build.ts";
import type { Publishing } from "./open-publishing.ts";
import type { Turn } from "./turn.ts";

/**
 * Runs the hooks that are pending for the live build; a failed hook is repeated by the next run.
 * @param changes undefined: left over from an earlier run, so everything may have changed
 * @throws RelcatError hook-failed, site-taken
 */
export async function runPending(
  { site, local, project }: Pick<Publishing, "site" | "project"> & { local: LocalBuild },
  turn: Turn,
  changes: Changes | undefined,
): Promise<void> {
  const { trust } = project.config;
  const { state } = turn;
  const { pending } = state;
  if (!pending) return;
  // Hooks do not sign, so they do not get the keys.
  const named = [trust.online, ...trust.openpgp].flatMap((key) => ("env" in key ? key.env : []));
  const hidden = [usualKey, usualOpenPgpKey, ...named];
  const run = { folder: site.folder, hidden };
  if (pending.purge && site.purge) {
    const files = changes ? writtenFiles(changes) : local.files;
    const cached = files.filter(({ isImmutable }) => !isImmutable).map(({ path }) => path);
    const paths = [...cached, ...(changes?.removed ?? [])];
    const served = paths.filter((path) => !isFolderAddress(path));
    await runHook(`the purge of ${site.name}`, site.purge, purgeLines(site.baseUrl, served), run);
  }
  if (pending.announce.length > 0 && site.afterPublish) {
    const text = announcement(site, local, state, pending.announce);
    await runHook(`after_publish of ${site.name}`, site.afterPublish, text, run);
  }
  await turn.write({ ...state, pending: null });
}
