import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { failure } from "./errors.ts";

/** Folder for persistent state (XDG Base Directory). @throws RelcatError file-access for a user without a home folder */
export function stateFolder(environment: Readonly<Record<string, string | undefined>>): string {
  return join(environment.XDG_STATE_HOME || join(homeOf(environment), ".local/state"), "relcat");
}

/** A relative one would be another folder in each current folder. */
function homeOf({ HOME: home }: { HOME?: string | undefined }): string {
  try {
    const found = home || homedir();
    if (isAbsolute(found)) return found;
  } catch {
    // The user has no entry in the system's database.
  }
  throw failure(
    "file-access",
    "there is no home folder, in which relcat keeps what it has seen of sites, and sessions",
    "Set XDG_STATE_HOME to a folder that you may write.",
  );
}
