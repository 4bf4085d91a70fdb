import { join, resolve } from "node:path";
import { exists, readIfPresent } from "../files.ts";
import { isFolder } from "../folders.ts";
import { git, isCommit, repositoryOf, revParse } from "./git.ts";

export interface Operation {
  kind: "merge" | "rebase" | "cherry-pick";
  /** Ref name of the commit that it applies. */
  head: string;
}

/** Reads git's files directly, because starting a git process takes longer than most checks. */
export const isMergeUnderWay = (folder: string): boolean =>
  isUnderWay(folder, "MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge", "rebase-apply");

/** True in a merge, but not in a rebase or a cherry-pick. */
export const isMerging = (folder: string): boolean => isUnderWay(folder, "MERGE_HEAD");

function isUnderWay(folder: string, ...names: readonly string[]): boolean {
  const own = gitFolder(folder);
  return own !== undefined && hasAny(own, ...names);
}

const hasAny = (own: string, ...names: readonly string[]) => names.some((name) => exists(join(own, name)));

/** In a linked work tree, `.git` is a file with the folder's path. */
function gitFolder(folder: string): string | undefined {
  const repository = repositoryOf(folder);
  if (repository === undefined) return undefined;
  const git = join(repository, ".git");
  if (isFolder(git)) return git;
  const [, path = ""] = /^gitdir: (.+)$/m.exec(new TextDecoder().decode(readIfPresent(git))) ?? [];
  return resolve(repository, path);
}

export async function operationUnderWay(folder: string): Promise<Operation | undefined> {
  const own = gitFolder(folder);
  if (own === undefined) return undefined;
  // It comes first, because a rebase also cherry-picks; REBASE_HEAD alone may be left over from an earlier one.
  if (hasAny(own, "rebase-merge", "rebase-apply") && (await isCommit(folder, "REBASE_HEAD")))
    return { kind: "rebase", head: "REBASE_HEAD" };
  if (hasAny(own, "MERGE_HEAD"))
    return { kind: "merge", head: (await mergedBranch(folder, own)) ?? "MERGE_HEAD" };
  if (await isPicking(folder)) return { kind: "cherry-pick", head: "CHERRY_PICK_HEAD" };
  return undefined;
}

/** Only git is asked: CHERRY_PICK_HEAD is a ref, which a repository may keep in a table of refs. */
export const isPicking = (folder: string): Promise<boolean> => isCommit(folder, "CHERRY_PICK_HEAD");

/** Name of the merged branch, from git's merge message. */
async function mergedBranch(folder: string, own: string): Promise<string | undefined> {
  const text = new TextDecoder().decode(readIfPresent(join(own, "MERGE_MSG")));
  const [, name] = /^Merge (?:remote-tracking )?branch '([^']+)'/.exec(text) ?? [];
  if (name === undefined) return undefined;
  const commits = await Promise.all([name, "MERGE_HEAD"].map((each) => revParse(folder, `${each}^{commit}`)));
  return commits[0]?.stdout === commits[1]?.stdout ? name : undefined;
}

/** The versions that git keeps until a conflict is resolved; undefined: no conflict, or a side without the file. */
export async function unmergedFile(folder: string, path: string) {
  const { exitCode, stdout } = await git(folder, ["ls-files", "--unmerged", "--", path]);
  if (exitCode !== 0 || stdout === "") return undefined;
  const blobs = new Map(
    stdout.split("\n").map((line) => {
      const [, blob = "", stage = ""] = line.split(/[ \t]/);
      return [stage, blob];
    }),
  );
  const text = async (stage: string) => {
    const blob = blobs.get(stage);
    return blob === undefined ? undefined : (await git(folder, ["show", blob])).stdout;
  };
  return { shared: await text("1"), head: await text("2"), other: await text("3") };
}

/** Merge base of HEAD and a revision; undefined if git does not find one, as in a shallow clone. */
export async function partedAt(folder: string, revision: string): Promise<string | undefined> {
  const { exitCode, stdout } = await git(folder, ["merge-base", "HEAD", revision]);
  return exitCode === 0 ? stdout : undefined;
}

/** True if one revision is an ancestor of the other; false if git does not have one of them. */
export const isAncestor = async (folder: string, earlier: string, later: string): Promise<boolean> =>
  (await git(folder, ["merge-base", "--is-ancestor", earlier, later])).exitCode === 0;
