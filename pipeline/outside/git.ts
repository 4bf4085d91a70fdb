import { failure } from "../errors.ts";

/**
 * A file as a git revision has it; "" when that revision exists and has no such file.
 * @param folder the folder the path is relative to
 * @param option how people name another revision
 * @throws RelcatError git-missing, git-revision
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
  throw failure("git-revision", `git cannot show ${path} of ${revision}: ${shown.stderr.trim()}`);
}

/**
 * The full id of the commit a revision names.
 * @throws RelcatError git-missing, git-revision
 */
export async function resolveCommit(
  folder: string,
  revision: string,
  option = "--ledger-base",
): Promise<string> {
  // A revision may never be read as an option, and ends with the commit it names.
  const resolved = await git(folder, [
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${revision}^{commit}`,
  ]);
  if (resolved.exitCode !== 0) throw await unresolved(folder, revision, option);
  return resolved.stdout;
}

async function unresolved(folder: string, revision: string, option: string) {
  const inside = await git(folder, ["rev-parse", "--is-inside-work-tree"]);
  if (inside.exitCode !== 0) {
    return failure(
      "git-revision",
      `this folder is not in a git repository, so ${revision} cannot be looked up`,
      `Run it in a clone, or give ${option} none to say that nothing is settled.`,
    );
  }
  const [remote = "origin", ...branch] = revision.split("/");
  const name = branch.length > 0 ? branch.join("/") : "main";
  const from = branch.length > 0 ? remote : "origin";
  return failure(
    "git-revision",
    `git does not know the revision ${revision}`,
    `Fetch it: git fetch --depth=1 ${from} ${name}:refs/remotes/${from}/${name} — or name another one with ${option}.`,
  );
}

/**
 * Commits the given paths and nothing else.
 * @returns the new commit's abbreviated id, undefined when nothing changed
 */
export async function commit(
  folder: string,
  paths: readonly string[],
  message: string,
): Promise<string | undefined> {
  await mustSucceed(folder, ["add", "--", ...paths]);
  const staged = await git(folder, ["diff", "--cached", "--quiet", "--", ...paths]);
  if (staged.exitCode === 0) return undefined;
  await mustSucceed(folder, ["commit", "--quiet", "--message", message, "--", ...paths]);
  return mustSucceed(folder, ["rev-parse", "--short", "HEAD"]);
}

/**
 * The commit a folder is at, with nothing changed since: what is built from it comes from that commit alone.
 * @throws RelcatError revision-unsure, naming what changed
 */
export async function cleanHead(folder: string): Promise<string> {
  const head = await git(folder, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  const elsewhere = "tate the revision with --rev SHA.";
  if (head.exitCode !== 0)
    throw failure("revision-unsure", "this folder is not in a git repository with a commit", `S${elsewhere}`);
  const status = await git(folder, [
    "--no-optional-locks",
    "status",
    "--porcelain",
    "--untracked-files=normal",
  ]);
  const changes = status.stdout.split("\n").filter((line) => line !== "");
  if (status.exitCode === 0 && changes.length === 0) return head.stdout;
  const shown = changes.slice(0, 5).map((line) => line.slice(3));
  const more = changes.length > shown.length ? ` and ${changes.length - shown.length} more` : "";
  const message = `the work tree is not what ${head.stdout.slice(0, 12)} holds: ${shown.join(", ")}${more}`;
  throw failure(
    "revision-unsure",
    message,
    `Commit, ignore or remove what changed, and build again; or s${elsewhere}`,
  );
}

async function mustSucceed(folder: string, args: readonly string[]): Promise<string> {
  const result = await git(folder, args);
  if (result.exitCode === 0) return result.stdout;
  throw failure(
    "git-missing",
    `git ${args[0]} failed: ${result.stderr.trim()}`,
    "The ledger is written; commit it by hand once git works.",
  );
}

export async function git(folder: string, args: readonly string[]) {
  const { execa } = await import("execa");
  const result = await execa("git", ["-C", folder, ...args], {
    reject: false,
    stripFinalNewline: args[0] !== "show",
    env: { LC_ALL: "C" },
  });
  if (result.code === "ENOENT")
    throw failure("git-missing", "git is not installed", "Install git, or run the command without it.");
  return { exitCode: result.exitCode, stdout: String(result.stdout), stderr: String(result.stderr) };
}
