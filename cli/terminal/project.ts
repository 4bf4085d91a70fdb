import { existsSync, lstatSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * The nearest project, from a folder upwards to the top of its git work tree, or of the file system. One above that
 * belongs to another user is left aside, for its configuration names programs to run.
 * @param from relative to the current folder
 * @param user id of the user that the process runs as; undefined where the system has none
 * @returns the project's folder, such as `..`, relative to the current folder; undefined where there is none
 */
export function findProject(from: string, user: number | undefined): string | undefined {
  for (let [folder, place] = [from, resolve(from)]; ; place = dirname(place)) {
    if (isProject(folder)) return folder === from || isOwned(folder, user) ? folder : undefined;
    if (existsSync(join(folder, ".git")) || dirname(place) === place) return undefined;
    folder = join(folder, "..");
  }
}

/** A built site has a `releases` folder too, but none of the files that people write. */
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
    return []; // The command says why a folder cannot be read.
  }
}
