import { existsSync, lstatSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * Finds the nearest project, upwards to the top of the git work tree or file system. Projects of other users
 * are skipped, because their configuration names programs to run.
 * @param from relative to the current folder
 * @param user id of the process's user; undefined: the system has no user ids
 * @returns the project's folder relative to the current folder, such as `..`; undefined: none
 */
export function findProject(from: string, user: number | undefined): string | undefined {
  for (let [folder, place] = [from, resolve(from)]; ; place = dirname(place)) {
    if (isProject(folder)) return folder === from || isOwned(folder, user) ? folder : undefined;
    if (existsSync(join(folder, ".git")) || dirname(place) === place) return undefined;
    folder = join(folder, "..");
  }
}

/** A built site has a `releases` folder too, but no authored files. */
function isProject(folder: string): boolean {
  const releases = join(folder, "releases");
  if (["catalog.yaml", "ledger.jsonl", "next"].some((name) => existsSync(join(releases, name)))) return true;
  return namesIn(releases).some((name) => existsSync(join(releases, name, "release.yaml")));
}

const isOwned = (folder: string, user: number | undefined): boolean =>
  user === undefined || lstatSync(join(folder, "releases")).uid === user;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // The command reports why a folder is unreadable.
  }
}
