import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../cli/terminal/host.ts";
import { stateFolder } from "../../shared/state-folder.ts";

export interface Session {
  url: string;
  email: string;
  /** Cookie header: name=value. */
  cookie: string;
  /** ISO 8601. */
  expires: string;
}

const folderOf = ({ environment }: Host) => join(stateFolder(environment), "sessions");
const fileOf = (url: string, host: Host) => join(folderOf(host), `${encodeURIComponent(url)}.json`);

/** Readable only by the owner. */
export function keepSession(session: Session, host: Host): void {
  mkdirSync(folderOf(host), { recursive: true, mode: 0o700 });
  writePrivate(fileOf(session.url, host), `${JSON.stringify(session)}\n`, host.pid);
}

/** Atomic, and readable only by the owner. */
export function writePrivate(file: string, text: string, pid: number): void {
  const part = `${file}.${pid}.part`;
  rmSync(part, { force: true });
  writeFileSync(part, text, { mode: 0o600, flag: "wx" });
  renameSync(part, file);
}

export const forgetSession = (url: string, host: Host): void => rmSync(fileOf(url, host), { force: true });

/** Sessions that have not expired. */
export function keptSessions(host: Host): Session[] {
  return globSync("*.json", { cwd: folderOf(host) })
    .sort()
    .flatMap((name) => readSession(join(folderOf(host), name)))
    .filter(({ expires }) => Date.parse(expires) > host.clock);
}

function readSession(file: string): Session[] {
  try {
    const { url, email, cookie, expires } = JSON.parse(readFileSync(file, "utf8"));
    return [url, email, cookie, expires].every((member) => typeof member === "string")
      ? [{ url, email, cookie, expires }]
      : [];
  } catch {
    return []; // an invalid file is replaced by the next login
  }
}
