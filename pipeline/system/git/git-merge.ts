import { dirname, join, resolve } from "node:path";
import { exists, readIfPresent } from "../files.ts";
import { isFolder } from "../folders.ts";
import { git } from "./git.ts";

/** A merge, rebase or cherry-pick that waits for somebody, and the commit it is bringing in. */
export interface Operation {
  kind: "merge" | "rebase" | "cherry-pick";
  /** The commit's name in git. */
  head: string;
}

const underWay = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge", "rebase-apply"];

/** Whether git is in the middle of something, told from its files alone: a process costs more than most checks. */
export function isMergeUnderWay(folder: string): boolean {
  for (let place = resolve(folder); ; place = dirname(place)) {
    const git = join(place, ".git");
    if (exists(git)) return underWay.some((name) => exists(join(gitFolder(git), name)));
    if (dirname(place) === place) return false;
  }
}

/** In a linked work tree `.git` is a file that says where the folder is. */
function gitFolder(git: string): string {
  if (isFolder(git)) return git;
  const [, path = ""] = /^gitdir: (.+)$/m.exec(new TextDecoder().decode(readIfPresent(git))) ?? [];
  return resolve(dirname(git), path);
}

/** What git is in the middle of, undefined when it is in the middle of nothing. */
export async function operationUnderWay(folder: string): Promise<Operation | undefined> {
  // A rebase picks commits too, so it is asked for first; its head alone may be left over from an earlier one.
  if ((await isRebasing(folder)) && (await isCommit(folder, "REBASE_HEAD")))
    return { kind: "rebase", head: "REBASE_HEAD" };
  if (await isCommit(folder, "MERGE_HEAD"))
    return { kind: "merge", head: (await branchOf(folder, "MERGE_HEAD")) ?? "MERGE_HEAD" };
  if (await isCommit(folder, "CHERRY_PICK_HEAD")) return { kind: "cherry-pick", head: "CHERRY_PICK_HEAD" };
  return undefined;
}

/** The branch people named when they merged it, as git's own message for the merge has it. */
async function branchOf(folder: string, head: string): Promise<string | undefined> {
  const file = await gitPath(folder, "MERGE_MSG");
  const text = new TextDecoder().decode(readIfPresent(file.stdout));
  const [, name] = /^Merge (?:remote-tracking )?branch '([^']+)'/.exec(text) ?? [];
  if (name === undefined) return undefined;
  const commits = await Promise.all(
    [name, head].map((each) =>
      git(folder, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${each}^{commit}`]),
    ),
  );
  return commits[0]?.stdout === commits[1]?.stdout ? name : undefined;
}

const gitPath = (folder: string, name: string) =>
  git(folder, ["rev-parse", "--path-format=absolute", "--git-path", name]);

async function isRebasing(folder: string): Promise<boolean> {
  const found = await Promise.all(["rebase-merge", "rebase-apply"].map((name) => gitPath(folder, name)));
  return found.some(({ exitCode, stdout }) => exitCode === 0 && exists(stdout));
}

async function isCommit(folder: string, name: string): Promise<boolean> {
  return (await git(folder, ["rev-parse", "--verify", "--quiet", `${name}^{commit}`])).exitCode === 0;
}

/** A file that git could not merge; a side is undefined where it has no such file. */
export interface UnmergedFile {
  shared: string | undefined;
  head: string | undefined;
  other: string | undefined;
}

/** The versions git keeps of a file until its conflict is resolved; undefined when there is none. */
export async function unmergedFile(folder: string, path: string): Promise<UnmergedFile | undefined> {
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

/** The commit two revisions parted at, undefined where git does not know one: a shallow clone, or none. */
export async function partedAt(folder: string, one: string, other: string): Promise<string | undefined> {
  const { exitCode, stdout } = await git(folder, ["merge-base", one, other]);
  return exitCode === 0 ? stdout : undefined;
}

/** Whether everything of a revision is in what is checked out. */
export const isMergedIn = (folder: string, revision: string): Promise<boolean> =>
  isAncestor(folder, revision, "HEAD");

/** Whether one revision grew from another; false too where git does not know one of them. */
export async function isAncestor(folder: string, earlier: string, later: string): Promise<boolean> {
  return (await git(folder, ["merge-base", "--is-ancestor", earlier, later])).exitCode === 0;
}
