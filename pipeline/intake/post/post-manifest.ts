import type { CommandContext } from "../../system/command-context.ts";
import { replaceDurably, requireFolder } from "../../system/files.ts";
import { withLock } from "../../system/lock.ts";
import { runCommand } from "../../system/run-command.ts";
import { decidePost, type PostDecision } from "./decide-post.ts";
import { readPosted } from "./read-posted.ts";

export type PostedManifest = Omit<PostDecision, "bytes">;

/**
 * Stores a posted manifest in its release. The ledger stays unchanged: only a cut makes anything permanent.
 * @param body JSON text: a manifest, or one record
 * @throws PostRefused for errors of the body; RelcatError for errors of the catalog; lock-held
 */
export async function postManifest(
  folder: string,
  body: Uint8Array,
  { pid, onWait }: Pick<CommandContext, "pid" | "onWait">,
): Promise<PostedManifest> {
  const posted = readPosted(body);
  requireFolder(folder);
  return withLock(folder, pid, onWait, async () => {
    const { bytes, ...decided } = await decidePost(folder, posted);
    if (decided.result !== "unchanged") replaceDurably(decided.file, bytes);
    return decided;
  });
}

/**
 * Runs the user's hook after a manifest was stored, without the lock, because the hook may run relcat.
 * @returns the error message, if it failed
 */
export const runAfterPost = (
  command: readonly string[],
  files: readonly string[],
): Promise<string | undefined> =>
  runCommand(command, { RELCAT_MANIFESTS: files.join("\n"), RELCAT_PUBLISH_TOKEN: undefined });
