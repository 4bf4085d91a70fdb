import { failure } from "../../../shared/errors.ts";
import { git, isInRepository, pathsOf } from "./git.ts";
import { isMerging, isPicking } from "./git-merge.ts";

/** @throws RelcatError git-missing; commit-refused in a merge, or if git does not know who commits */
export async function requireRepository(folder: string): Promise<void> {
  if (!isInRepository(folder))
    throw failure(
      "git-missing",
      "this folder is not in a git repository, so --commit has nowhere to go",
      "Nothing was written. Run git init first, or leave --commit out.",
    );
  if (isMerging(folder) || (await isPicking(folder)))
    throw failure(
      "commit-refused",
      "a merge or a cherry-pick is in progress, which git commits only as a whole",
      "Nothing was written. Finish it or give it up first: git status says how.",
    );
  const advice =
    'Nothing was written. Tell git who commits: git config user.name "NAME", then git config user.email ADDRESS';
  for (const who of ["AUTHOR", "COMMITTER"]) await mustSucceed(folder, ["var", `GIT_${who}_IDENT`], advice);
}

/**
 * @param undone hint: what to do by hand if git fails
 * @param removed committed paths that no longer exist in the folder
 * @returns the new commit's abbreviated id; undefined: nothing changed
 * @throws RelcatError commit-refused, by a hook, by gpg or by git itself
 */
export async function commit(
  folder: string,
  paths: readonly string[],
  message: string,
  undone: string,
  removed: readonly string[] = [],
): Promise<string | undefined> {
  await mustSucceed(folder, ["add", "--", ...paths], undone);
  const staged = await git(folder, ["diff", "--cached", "--quiet", "--", ...paths]);
  if (staged.exitCode === 0 && removed.length === 0) return undefined;
  await mustSucceed(folder, ["commit", "--quiet", "--message", message, "--", ...paths, ...removed], undone);
  return mustSucceed(folder, ["rev-parse", "--short", "HEAD"], undone);
}

/** Committed paths that the folder no longer has, by name below `part`; none before the first commit. */
export async function movedAway(
  folder: string,
  part: string,
  isWanted: (name: string) => boolean,
): Promise<string[]> {
  const diff = ["diff", "--name-only", "--no-renames", "--relative", "-z", "--diff-filter=D", "HEAD", "--"];
  const { exitCode, stdout } = await git(folder, [...diff, part]);
  return exitCode === 0 ? pathsOf(stdout).filter((path) => isWanted(path.slice(part.length + 1))) : [];
}

async function mustSucceed(folder: string, args: readonly string[], undone: string): Promise<string> {
  const result = await git(folder, args);
  if (result.exitCode === 0) return result.stdout;
  const lines = result.stderr.split("\n").filter((line) => line.trim() !== "");
  const own = lines.filter((line) => /^(?:fatal|error|gpg): /.test(line));
  // A hook that stops git writes lines of its own, and git adds none.
  const how = own.length === 0 && args[0] === "commit" ? "was stopped by a hook" : "failed";
  const shown = own.length > 0 ? own : lines.slice(0, 1);
  const reason = shown.map((line) => line.replace(/^(?:fatal|error): /, "").replace(/:$/, "")).join("; ");
  throw failure("commit-refused", `git ${args[0]} ${how}: ${reason || `status ${result.exitCode}`}`, undone);
}
