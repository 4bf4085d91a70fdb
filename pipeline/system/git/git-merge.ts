import { dirname, join, resolve } from "node:path";
import { exists, readIfPresent } from "../files.ts";
import { isFolder } from "../folders.ts";
import { git, isCommit, isInRepository, repositoryOf, revParse } from "./git.ts";

export interface Operation {
  kind: "merge" | "rebase" | "cherry-pick";
  /** Ref name of the commit that it applies. */
  head: string;
}

const underWay = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge", "rebase-apply"];

/** Reads git's files directly, because starting a git process takes longer than most checks. */
export function isMergeUnderWay(folder: string): boolean {
  const repository = repositoryOf(folder);
  if (repository === undefined) return false;
  const own = gitFolder(join(repository, ".git"));
  return underWay.some((name) => exists(join(own, name)));
}

/** In a linked work tree, `.git` is a file with the folder's path. */
function gitFolder(git: string): string {
  if (isFolder(git)) return git;
  const [, path = ""] = /^gitdir: (.+)$/m.exec(new TextDecoder().decode(readIfPresent(git))) ?? [];
  return resolve(dirname(git), path);
}

export async function operationUnderWay(folder: string): Promise<Operation | undefined> {
  // It comes first, because a rebase also cherry-picks; REBASE_HEAD alone may be left over from an earlier one.
  if ((await isRebasing(folder)) && (await isCommit(folder, "REBASE_HEAD")))
    return { kind: "rebase", head: "REBASE_HEAD" };
  if (await isCommit(folder, "MERGE_HEAD"))
    return { kind: "merge", head: (await mergedBranch(folder)) ?? "MERGE_HEAD" };
  if (await isCommit(folder, "CHERRY_PICK_HEAD")) return { kind: "cherry-pick", head: "CHERRY_PICK_HEAD" };
  return undefined;
}

/** Name of the merged branch, from git's merge message. */
async function mergedBranch(folder: string): Promise<string | undefined> {
  const text = new TextDecoder().decode(readIfPresent(await gitPath(folder, "MERGE_MSG")));
  const [, name] = /^Merge (?:remote-tracking )?branch '([^']+)'/.exec(text) ?? [];
  if (name === undefined) return undefined;
  const commits = await Promise.all([name, "MERGE_HEAD"].map((each) => revParse(folder, `${each}^{commit}`)));
  return commits[0]?.stdout === commits[1]?.stdout ? name : undefined;
}

/** Relative paths are relative to the folder; git has an option for absolute ones since 2.31. */
const gitPath = async (folder: string, name: string): Promise<string> =>
  resolve(folder, (await git(folder, ["rev-parse", "--git-path", name])).stdout);

async function isRebasing(folder: string): Promise<boolean> {
  const paths = await Promise.all(["rebase-merge", "rebase-apply"].map((name) => gitPath(folder, name)));
  return isInRepository(folder) && paths.some(exists);
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
