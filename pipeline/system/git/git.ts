import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { failure } from "../../errors.ts";

/**
 * Proves that a commit can be made, before anything is written that wants one.
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
 * Commits the given paths and nothing else.
 * @param undone what is to be done by hand when git refuses
 * @param removed paths that the last commit has and the folder no longer has
 * @returns the new commit's abbreviated id, undefined when nothing changed
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
 * Paths below a folder's part that the last commit has and the folder no longer has; none before the first commit.
 * @param isWanted by the name below `part`
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

/** What of a folder differs from the last commit, untracked files included, relative to the folder. */
export async function uncommitted(folder: string): Promise<string[]> {
  const changed = await git(folder, ["diff", "--name-only", "--relative", "-z", "HEAD", "--", "."]);
  const added = await git(folder, ["ls-files", "--others", "--exclude-standard", "-z", "--", "."]);
  const paths = [changed, added].flatMap(({ stdout }) => stdout.split("\0"));
  return [...new Set(paths)].filter((path) => path !== "" && !path.startsWith(".relcat-")).sort();
}

/**
 * The commit a folder is at, with nothing changed since: what is built from it comes from that commit alone.
 * @param written patterns of what is no source: earlier calls wrote it
 * @throws RelcatError revision-unsure, naming what changed
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
  const message = `the work tree is not what ${head.stdout.slice(0, 12)} holds: ${shown.join(", ")}${more}`;
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

/** Whether a folder, or the nearest one above it that exists, lies in a work tree; without git none does. */
export async function isInRepository(folder: string): Promise<boolean> {
  const place = resolve(folder);
  if (!existsSync(place)) return dirname(place) === place ? false : isInRepository(dirname(place));
  const { stdout } = await git(place, ["rev-parse", "--is-inside-work-tree"]).catch(() => ({ stdout: "" }));
  return String(stdout).trim() === "true";
}
