import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { failure } from "../../errors.ts";

/**
 * Checks that a commit is possible before anything is written for it.
 * @throws RelcatError git-missing
 */
export async function requireRepository(folder: string): Promise<void> {
  const inside = await git(folder, ["rev-parse", "--is-inside-work-tree"]);
  if (inside.exitCode === 0) return;
  throw failure(
    "git-missing",
    "this folder is not in a git repository, so --commit has nowhere to go",
    "Nothing was written. Run git init first, or leave --commit out.",
  );
}

/**
 * Commits only the given paths.
 * @param undone hint: what to do by hand if git fails
 * @param removed committed paths that no longer exist in the folder
 * @returns the new commit's abbreviated id; undefined: nothing changed
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

/**
 * Committed paths below `part` that no longer exist in the folder; none before the first commit.
 * @param isWanted filter for names below `part`
 */
export async function movedAway(
  folder: string,
  part: string,
  isWanted: (name: string) => boolean,
): Promise<string[]> {
  const diff = ["diff", "--name-only", "--no-renames", "--relative", "-z", "--diff-filter=D", "HEAD", "--"];
  const { exitCode, stdout } = await git(folder, [...diff, part]);
  const paths = exitCode === 0 ? stdout.split("\0").filter((path) => path !== "") : [];
  return paths.filter((path) => isWanted(path.slice(part.length + 1)));
}

/** Changed and untracked files of a folder, relative to it. */
export async function uncommitted(folder: string): Promise<string[]> {
  const changed = await git(folder, ["diff", "--name-only", "--relative", "-z", "HEAD", "--", "."]);
  const added = await git(folder, ["ls-files", "--others", "--exclude-standard", "-z", "--", "."]);
  const paths = [changed, added].flatMap(({ stdout }) => stdout.split("\0"));
  return [...new Set(paths)].filter((path) => path !== "" && !path.startsWith(".relcat-")).sort();
}

/**
 * The commit of a folder without changes, so that a build from it comes from that commit alone.
 * @param written patterns of generated files, which earlier calls wrote
 * @throws RelcatError revision-unsure, naming the changes
 */
export async function cleanHead(folder: string, written: readonly string[] = []): Promise<string> {
  const head = await git(folder, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  const elsewhere = "tate the revision with --rev SHA.";
  if (head.exitCode !== 0)
    throw failure("revision-unsure", "this folder is not in a git repository with a commit", `S${elsewhere}`);
  const status = await git(folder, [
    "--no-optional-locks",
    "status",
    "--porcelain",
    "--untracked-files=normal",
    "--",
    ":/",
    ...written.map((pattern) => `:(exclude,glob)${pattern}`),
  ]);
  const changes = status.stdout.split("\n").filter((line) => line !== "");
  if (status.exitCode === 0 && changes.length === 0) return head.stdout;
  const shown = changes.slice(0, 5).map((line) => line.slice(3));
  const more = changes.length > shown.length ? ` and ${changes.length - shown.length} more` : "";
  const message = `the work tree differs from ${head.stdout.slice(0, 12)} holds: ${shown.join(", ")}${more}`;
  throw failure(
    "revision-unsure",
    message,
    `Commit, ignore or remove what changed, and build again; or s${elsewhere}`,
  );
}

async function mustSucceed(folder: string, args: readonly string[], undone: string): Promise<string> {
  const result = await git(folder, args);
  if (result.exitCode === 0) return result.stdout;
  throw failure("git-missing", `git ${args[0]} failed: ${result.stderr.trim()}`, undone);
}

/** @param input for its standard input @throws RelcatError git-missing */
export async function git(folder: string, args: readonly string[], input?: string) {
  const { execa } = await import("execa");
  const result = await execa("git", ["-C", folder, ...args], {
    ...(input === undefined ? {} : { input }),
    reject: false,
    stripFinalNewline: args[0] !== "show",
    env: { LC_ALL: "C" },
  });
  if (result.code === "ENOENT")
    throw failure("git-missing", "git is not installed", "Install git, or run the command without it.");
  return { exitCode: result.exitCode, stdout: String(result.stdout), stderr: String(result.stderr) };
}

/** True if a folder, or its nearest existing parent, is in a work tree; false without git. */
export async function isInRepository(folder: string): Promise<boolean> {
  const place = resolve(folder);
  if (!existsSync(place)) return dirname(place) === place ? false : isInRepository(dirname(place));
  const { stdout } = await git(place, ["rev-parse", "--is-inside-work-tree"]).catch(() => ({ stdout: "" }));
  return String(stdout).trim() === "true";
}

/** True if a folder is in a repository, and is not its root. */
export const isBelowRoot = async (folder: string): Promise<boolean> =>
  !existsSync(join(folder, ".git")) && (await isInRepository(folder));
