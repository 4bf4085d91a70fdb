import { git, gitIfNeeded } from "./git.ts";
import { isAncestor } from "./git-merge.ts";

/** The checked-out commit of a folder. */
export interface Head {
  commit: string;
  /** True if the folder has no uncommitted changes. */
  isClean: boolean;
}

/** undefined without git or without a commit. @throws RelcatError git-refused */
export async function headOf(folder: string): Promise<Head | undefined> {
  const head = await gitIfNeeded(folder, ["rev-parse", "--verify", "--quiet", "HEAD"]);
  if (head?.exitCode !== 0) return undefined;
  const options = ["--porcelain", "--untracked-files=normal", "--ignore-submodules=none"];
  const sources = ["--", ".", ":(exclude).relcat-*"];
  const status = await git(folder, ["--no-optional-locks", "status", ...options, ...sources]);
  return { commit: head.stdout.trim(), isClean: status.exitCode === 0 && status.stdout === "" };
}

/**
 * True if the checkout is an ancestor of a commit.
 * @param commit from an untrusted source; an unknown one gives false
 */
export const isBefore = async (folder: string, { commit: head }: Head, commit: string): Promise<boolean> =>
  /^[0-9a-f]{40,64}$/.test(commit) && commit !== head && (await isAncestor(folder, head, commit));

/** Name of the checked-out branch; undefined: a commit is checked out, or there is no repository. */
export async function branchOf(folder: string): Promise<string | undefined> {
  const { exitCode, stdout } = await git(folder, ["symbolic-ref", "--quiet", "--short", "HEAD"]);
  return exitCode === 0 ? stdout : undefined;
}
