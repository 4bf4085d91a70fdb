import { distance } from "fastest-levenshtein";
import { failure } from "../../../shared/errors.ts";
import { git, isCommit, refused, revParse } from "./git.ts";

/**
 * @param option that selects another revision, for hints
 * @returns "" if the revision does not contain the file
 * @throws RelcatError git-missing, git-revision, git-refused
 */
export async function showFile(
  folder: string,
  revision: string,
  path: string,
  option = "--ledger-base",
): Promise<string> {
  const shown = await git(folder, ["show", `${await resolveCommit(folder, revision, option)}:./${path}`]);
  if (shown.exitCode === 0) return shown.stdout;
  if (/does not exist|exists on disk, but not in/.test(shown.stderr)) return "";
  throw refused(folder, shown.stderr);
}

/** The full commit id of a revision. @throws RelcatError git-missing, git-revision */
export async function resolveCommit(
  folder: string,
  revision: string,
  option = "--ledger-base",
): Promise<string> {
  // Peels tags to commits.
  const resolved = await revParse(folder, `${revision}^{commit}`);
  if (resolved.exitCode !== 0) throw await unresolved(folder, revision, option);
  return resolved.stdout;
}

async function unresolved(folder: string, revision: string, option: string) {
  const inside = await git(folder, ["rev-parse", "--is-inside-work-tree"]);
  if (inside.exitCode !== 0) {
    const none =
      option === "--ledger-base" ? ", or give --ledger-base none to say that nothing is settled" : "";
    return failure(
      "git-revision",
      `this folder is not in a git repository, so ${revision} cannot be looked up`,
      `Run it in a clone${none}.`,
    );
  }
  const near = similar(revision, await linesOf(folder, ["for-each-ref", "--format=%(refname:short)"]));
  const none = option === "--ledger-base" ? " (none: nothing is settled yet)" : "";
  const forGood = option === "--at" ? "" : ", for good with ledger: { base: … } in catalog.yaml";
  const hint = [
    await wayToGet(folder, revision),
    ...(near.length > 0 ? [`Did you mean ${near.join(" or ")}?`] : []),
    `Another one is named with ${option}${none}${forGood}.`,
  ];
  return failure("git-revision", `git does not know the revision ${revision}`, hint.join(" "));
}

/** True for a branch of `origin` in a repository that has no remote yet. */
export const lacksRemote = async (folder: string, revision: string): Promise<boolean> =>
  revision.startsWith("origin/") && (await linesOf(folder, ["remote"])).length === 0;

/** Why a new repository cannot have a revision yet; undefined: it has it, or should have it. */
export async function whyNotYet(
  folder: string,
  revision: string,
): Promise<"no-commit" | "no-remote" | undefined> {
  if (await isCommit(folder, revision)) return undefined;
  if (!(await isCommit(folder, "HEAD"))) return "no-commit";
  return (await lacksRemote(folder, revision)) ? "no-remote" : undefined;
}

/** The hint must not suggest fetching a full clone with a depth, which would make it shallow. */
async function wayToGet(folder: string, revision: string): Promise<string> {
  if (await lacksRemote(folder, revision)) return "The repository has no remote yet.";
  const remotes = await linesOf(folder, ["remote"]);
  const remote = remotes.find((name) => revision.startsWith(`${name}/`) && revision !== `${name}/`);
  if (remote === undefined)
    return "It is not a branch, tag or commit of this clone, or a branch of one of its remotes.";
  const branch = revision.slice(remote.length + 1);
  const [isShallow] = await linesOf(folder, ["rev-parse", "--is-shallow-repository"]);
  const depth = isShallow === "true" ? "--depth=1 " : "";
  return `Fetch it: git fetch ${depth}${remote} ${branch}:refs/remotes/${remote}/${branch}.`;
}

/** Similar names, or the same branch without its remote. */
function similar(revision: string, refs: readonly string[]): string[] {
  const branch = revision.slice(revision.indexOf("/") + 1);
  const far = (ref: string) =>
    Math.min(distance(ref, revision), ref === branch || ref.endsWith(`/${revision}`) ? 1 : 99);
  return refs
    .filter((ref) => far(ref) <= Math.max(2, revision.length / 4))
    .sort((a, b) => far(a) - far(b))
    .slice(0, 3);
}

async function linesOf(folder: string, args: readonly string[]): Promise<string[]> {
  const { exitCode, stdout } = await git(folder, args);
  return exitCode === 0 ? stdout.split("\n").filter((line) => line !== "") : [];
}
