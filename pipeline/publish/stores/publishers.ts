import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname, userInfo } from "node:os";

export interface Publisher {
  /** NAME@MACHINE */
  name: string;
  run: string;
}

/** @param environment CI's variables for the user or job */
export function thisPublisher(environment: Readonly<Record<string, string | undefined>>, pid: number) {
  const who =
    environment.RELCAT_PUBLISHER ?? environment.GITHUB_ACTOR ?? environment.GITLAB_USER_LOGIN ?? userName();
  return { name: `${who}@${hostname()}`, run: `${pid}-${machine()}${randomBytes(2).toString("hex")}` };
}

/** Containers may share a host name; four digits identify the namespace in which the process id is valid. */
function machine(): string {
  const places = ["/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"].map((path) => {
    try {
      return path.endsWith("boot_id") ? readFileSync(path, "utf8") : readlinkSync(path);
    } catch {
      return ""; // Not available outside Linux.
    }
  });
  return createHash("sha256").update(places.join("\n")).digest("hex").slice(0, 4);
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "someone"; // A container's user id may have no name.
  }
}

/** True if a run was on this machine and its process is gone; other machines cannot be checked. */
export function hasDied({ name, run }: Publisher, here: Publisher): boolean {
  const host = (whole: string) => whole.slice(whole.lastIndexOf("@"));
  const [id, nonce = ""] = run.split("-");
  const pid = Number(id);
  const isHere = host(name) === host(here.name) && nonce.startsWith(machine());
  if (!isHere || !Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
