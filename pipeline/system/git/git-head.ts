import { git } from "./git.ts";
import { isAncestor } from "./git-merge.ts";

/** The commit that a folder is at. */
export interface Head {
  commit: string;
  /** Nothing in the folder is other than the commit has it. */
  isClean: boolean;
}

/** undefined where there is no git, or no commit yet. */
export async function headOf(folder: string): Promise<Head | undefined> {
  try {
    const { exitCode, stdout } = await git(folder, ["rev-parse", "--verify", "--quiet", "HEAD"]);
    if (exitCode !== 0) return undefined;
    const sources = [".", ":(exclude).relcat-*"];
    const status = await git(folder, ["--no-optional-locks", "status", "--porcelain", "--", ...sources]);
    return { commit: stdout.trim(), isClean: status.exitCode === 0 && status.stdout === "" };
  } catch {
    return undefined; // What is said with it is for people: nothing needs git.
  }
}

/**
 * Whether what is checked out is what a commit grew from.
 * @param commit somebody else's word; one that git does not know here says nothing
 */
export const isBefore = async (folder: string, { commit: head }: Head, commit: string): Promise<boolean> =>
  /^[0-9a-f]{40,64}$/.test(commit) && commit !== head && (await isAncestor(folder, head, commit));
