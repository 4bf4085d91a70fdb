import { replaceDurably, requireFolder } from "../../system/files.ts";
import { withLock } from "../../system/lock.ts";
import { runCommand } from "../../system/run-command.ts";
import type { Surroundings } from "../../system/surroundings.ts";
import { decidePost, type PostDecision } from "./decide-post.ts";
import { readPosted } from "./read-posted.ts";

/** What became of a posted manifest. */
export type PostedManifest = Omit<PostDecision, "bytes">;

/**
 * Stores what was posted as a manifest of its release. Never the ledger: only a cut makes anything permanent.
 * @param body JSON text: a manifest, or one record
 * @throws PostRefused for what is wrong with it; RelcatError for what is wrong with the catalog; lock-held
 */
export async function postManifest(
  folder: string,
  body: Uint8Array,
  { pid, onWait }: Pick<Surroundings, "pid" | "onWait">,
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
 * Tells the owner's program of stored manifests; the folder is not locked meanwhile, for it may be relcat.
 * @returns why it failed, if it did
 */
export const runAfterPost = (
  command: readonly string[],
  files: readonly string[],
): Promise<string | undefined> =>
  runCommand(command, { RELCAT_MANIFESTS: files.join("\n"), RELCAT_PUBLISH_TOKEN: undefined });
