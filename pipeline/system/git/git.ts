import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { failure } from "../../../shared/errors.ts";

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

/** Like git(); undefined: the folder is not in a repository. */
export const gitIfNeeded = async (folder: string, args: readonly string[]) =>
  isInRepository(folder) ? git(folder, args) : undefined;

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
