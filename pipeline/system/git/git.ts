import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { failure, RelcatError } from "../../../shared/errors.ts";

/** @throws RelcatError git-missing; commit-refused in a merge, or if git does not know who commits */
export async function requireRepository(folder: string): Promise<void> {
  const inside = await git(folder, ["rev-parse", "--is-inside-work-tree"]);
  if (inside.exitCode !== 0)
    throw failure(
      "git-missing",
      "this folder is not in a git repository, so --commit has nowhere to go",
      "Nothing was written. Run git init first, or leave --commit out.",
    );
  for (const name of ["MERGE_HEAD", "CHERRY_PICK_HEAD"])
    if ((await revParse(folder, name)).exitCode === 0)
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

/** Files of a folder that differ from HEAD, relative to the folder. @param untracked other files to list */
export async function uncommitted(folder: string, untracked: "new" | "ignored too"): Promise<string[]> {
  const ignored = untracked === "new" ? "no" : "traditional";
  const options = ["--porcelain", "-z", "--no-renames", "--untracked-files=all", `--ignored=${ignored}`];
  const status = ["--no-optional-locks", "status", ...options, "--ignore-submodules=none", "--", "."];
  const [listed, above] = [await gitText(folder, status), await git(folder, ["rev-parse", "--show-prefix"])];
  const paths = listed.split("\0").map((entry) => entry.slice(3 + above.stdout.length));
  return paths.filter((path) => path !== "" && !path.startsWith(".relcat-")).sort();
}

/**
 * The commit of a folder without changes, so that a build from it comes from that commit alone.
 * @param written patterns of generated files, which earlier calls wrote
 * @throws RelcatError revision-unsure, naming the changes
 */
export async function cleanHead(folder: string, written: readonly string[] = []): Promise<string> {
  const head = await revParse(folder, "HEAD^{commit}");
  const elsewhere = "tate the revision with --rev SHA.";
  if (head.exitCode !== 0)
    throw failure("revision-unsure", "this folder is not in a git repository with a commit", `S${elsewhere}`);
  const excluded = written.map((pattern) => `:(exclude,glob)${pattern}`);
  const options = ["--porcelain", "--untracked-files=normal", "--", ":/", ...excluded];
  const status = await git(folder, ["--no-optional-locks", "status", ...options]);
  const changes = status.stdout.split("\n").filter((line) => line !== "");
  if (status.exitCode === 0 && changes.length === 0) return head.stdout;
  const shown = changes.slice(0, 5).map((line) => line.slice(3));
  const more = changes.length > shown.length ? ` and ${changes.length - shown.length} more` : "";
  const message = `the work tree differs from ${head.stdout.slice(0, 12)} in ${shown.join(", ")}${more}`;
  throw failure(
    "revision-unsure",
    message,
    `Commit, ignore or remove what changed, and build again; or s${elsewhere}`,
  );
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

/**
 * Runs git. A repository that git refuses to read is an error of every call, never the answer "none".
 * @throws RelcatError git-missing, git-refused
 */
export async function git(folder: string, args: readonly string[], input?: string) {
  const result = await runGit(folder, args, input);
  if (result.exitCode === 128) await throwRefusal(folder, result.stderr);
  return result;
}

/** Runs git, and returns its output. @throws RelcatError git-missing; git-refused if git fails */
export async function gitText(folder: string, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await git(folder, args);
  if (exitCode !== 0) throw refused(folder, stderr);
  return stdout;
}

/** Paths that git lists with -z. */
export const pathsOf = (stdout: string): string[] => stdout.split("\0").filter((path) => path !== "");

/** Finds the object that a revision names. git never reads the name as an option. */
export const revParse = (folder: string, revision: string) =>
  git(folder, ["rev-parse", "--verify", "--quiet", "--end-of-options", revision]);

export const isCommit = async (folder: string, revision: string): Promise<boolean> =>
  (await revParse(folder, `${revision}^{commit}`)).exitCode === 0;

/** Like git(); undefined: git is not installed, and the folder is not in a repository. */
export const gitIfNeeded = (folder: string, args: readonly string[]) =>
  git(folder, args).catch((error: unknown) => {
    if (error instanceof RelcatError && error.code === "git-missing" && !isInRepository(folder))
      return undefined;
    throw error;
  });

/** Runs git without judging what it answers. @throws RelcatError git-missing */
export async function runGit(folder: string, args: readonly string[], input?: string) {
  const { execa } = await import("execa");
  const result = await execa("git", ["-C", folder, ...args], {
    ...(input === undefined ? {} : { input }),
    reject: false,
    stripFinalNewline: args[0] !== "show",
    env: { ...ownRepository, LC_ALL: "C" },
  });
  if (result.code === "ENOENT")
    throw failure("git-missing", "git is not installed", "Install git, or run the command without it.");
  const { exitCode = -1, shortMessage = "" } = result;
  const [stdout, stderr] = [String(result.stdout), String(result.stderr)];
  if ([0, 1, 128].includes(exitCode)) return { exitCode, stdout, stderr };
  // Such as a git that may not be executed, lacks a library, or was killed: no answer of a repository.
  const reason = (stderr || shortMessage).split("\n", 1).join("");
  const hint = "Run git status in the project to see the cause, then run the command again.";
  throw failure("git-missing", `git does not work: ${reason}`, hint);
}

const local =
  "DIR WORK_TREE COMMON_DIR INDEX_FILE PREFIX NAMESPACE CEILING_DIRECTORIES OBJECT_DIRECTORY SHALLOW_FILE " +
  "ALTERNATE_OBJECT_DIRECTORIES LITERAL_PATHSPECS GLOB_PATHSPECS NOGLOB_PATHSPECS ICASE_PATHSPECS";

/**
 * Git sets variables for hooks, which would lead to another repository than that of the folder, or change the meaning of
 * paths. Replace refs and grafts would show other commits than those that are pushed.
 */
export const ownRepository: Record<string, string | undefined> = {
  ...Object.fromEntries(local.split(" ").map((name) => [`GIT_${name}`, undefined])),
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_GRAFT_FILE: "/dev/null/none",
};

/** git exits with 128 both for what does not exist and for what it cannot read; only the second is thrown. */
async function throwRefusal(folder: string, stderr: string): Promise<void> {
  if (!existsSync(folder) || isAbsent(folder, stderr) || isAboutName.test(stderr)) return;
  const inside = await runGit(folder, ["rev-parse", "--is-inside-work-tree"]);
  if (inside.exitCode !== 0 && !isAbsent(folder, inside.stderr)) throw refused(folder, inside.stderr);
  if (inside.exitCode === 0 && isDamage.test(stderr)) throw refused(folder, stderr);
}

const isAbsent = (folder: string, stderr: string): boolean =>
  /^fatal: not a git repository \(or any/m.test(stderr) && !isInRepository(folder);

/** git looks a name up only after it could read the repository. */
const isAboutName = /^fatal: (ambiguous argument|bad revision|Needed a single revision|invalid object name)/m;

const isDamage =
  /bad (tree )?object|corrupt|is empty|unable to (read|unpack)|could not (read|parse)|missing (blob|tree|commit)|index file/i;

/** @param stderr of git, whose first error is shown, or its first line */
export function refused(folder: string, stderr: string) {
  const [first = ""] = stderr.trim().split("\n", 1);
  const [, line = first] = /^(?:fatal|error): (.*)/m.exec(stderr) ?? [];
  const [trust] = /git config --global --add safe\.directory .+/.exec(stderr) ?? [];
  const [, lost] = /^fatal: not a git repository: (.+)/m.exec(stderr) ?? [];
  const hint =
    trust !== undefined
      ? `Another user owns it. If you trust that user: ${trust}`
      : lost !== undefined
        ? `The work tree names the repository ${lost}. Mount it here, or use a clone.`
        : isOnOtherFileSystem(folder)
          ? "The repository is on another file system: set GIT_DISCOVERY_ACROSS_FILESYSTEM=1."
          : "Repair it (git status and git fsck say more), or use a new clone.";
  return failure("git-refused", `git cannot read the repository of ${folder}: ${line}`, hint);
}

function isOnOtherFileSystem(folder: string): boolean {
  const repository = repositoryOf(folder) ?? folder;
  return statSync(repository).dev !== statSync(folder).dev;
}

/** The nearest folder, from this one upwards, that has a `.git`; git itself is not asked. */
export function repositoryOf(folder: string): string | undefined {
  const place = existsSync(folder) ? realpathSync(folder) : resolve(folder);
  if (existsSync(join(place, ".git"))) return place;
  return dirname(place) === place ? undefined : repositoryOf(dirname(place));
}

/** True if a folder, which may not exist yet, is in a work tree. */
export const isInRepository = (folder: string): boolean => repositoryOf(folder) !== undefined;

/** True if a folder is in a repository, and is not its root. */
export const isBelowRoot = (folder: string): boolean =>
  !existsSync(join(folder, ".git")) && isInRepository(folder);
