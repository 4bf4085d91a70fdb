import { runGit } from "./git.ts";

/**
 * Pushes HEAD to a branch. After a rejection it fetches what the remote has, so that it can be merged.
 * @returns why the push was refused; undefined: the remote has HEAD
 */
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
