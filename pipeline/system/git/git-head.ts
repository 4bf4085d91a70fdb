import { git, gitIfNeeded, runGit } from "./git.ts";
import { isAncestor } from "./git-merge.ts";

/** The checked-out commit; undefined without git or without a commit. @throws RelcatError git-refused */
export async function headOf(folder: string): Promise<string | undefined> {
  const head = await gitIfNeeded(folder, ["rev-parse", "--verify", "--quiet", "HEAD"]);
  return head?.exitCode === 0 ? head.stdout.trim() : undefined;
}

/** Date of the checked-out commit in milliseconds since 1970; undefined without git or without a commit. */
export async function headTime(folder: string): Promise<number | undefined> {
  const head = await gitIfNeeded(folder, ["log", "-1", "--format=%ct", "HEAD"]);
  return head?.exitCode === 0 ? Number(head.stdout) * 1000 : undefined;
}

/** True if the checkout is an ancestor of a commit from an untrusted source; false for an unknown one. */
export const isBefore = async (folder: string, head: string, commit: string): Promise<boolean> =>
  /^[0-9a-f]{40,64}$/.test(commit) && commit !== head && (await isAncestor(folder, head, commit));

/** Name of the checked-out branch; undefined: a commit is checked out, or there is no repository. */
export async function branchOf(folder: string): Promise<string | undefined> {
  // A short name would be "heads/main" if there is a tag "main", too.
  const { exitCode, stdout } = await git(folder, ["symbolic-ref", "--quiet", "HEAD"]);
  return exitCode === 0 ? stdout.replace("refs/heads/", "") : undefined;
}

/** Fetches after a rejection, for a merge. @returns why the push was refused; undefined: the remote has HEAD */
export async function pushHead(
  folder: string,
  remote: string,
  branch: string,
  isTrial: boolean,
): Promise<string | undefined> {
  const trial = isTrial ? ["--dry-run"] : [];
  const args = ["push", "--porcelain", ...trial, "--", remote, `HEAD:refs/heads/${branch}`];
  const { exitCode, stdout, stderr } = await runGit(folder, args);
  if (exitCode === 0) return undefined;
  const [, summary] = /^!\tHEAD:\S+\t(.*)$/m.exec(stdout) ?? [];
  if (summary?.startsWith("[rejected]")) await runGit(folder, ["fetch", "--quiet", "--", remote]);
  const [, reason] = (summary ? /^remote: (.*)$/m : /^(?:fatal|error): (.*)$/m).exec(stderr) ?? [];
  return [summary, reason?.trim()].filter(Boolean).join("; ") || `status ${exitCode}`;
}
