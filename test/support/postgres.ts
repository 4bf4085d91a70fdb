import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { freePort } from "./port.ts";

export interface Postgres {
  /** Without the name of a database. */
  url: string;
  port: number;
  stop(): Promise<void>;
}

/** Starts a new PostgreSQL on the loopback interface. */
export async function startPostgres(): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), "relcat-postgres-"));
  const data = join(folder, "data");
  const port = await freePort();
  const run = asItsUser(folder);
  await run("initdb", ["-D", data, "-A", "trust", "-U", "postgres"]);
  const settings = `-c listen_addresses=127.0.0.1 -p ${port} -k ${folder} -c max_connections=200`;
  await run("pg_ctl", ["-D", data, "-o", settings, "-l", join(folder, "log"), "-w", "start"]);
  const stop = async () => {
    await run("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"]);
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: `postgres://postgres@127.0.0.1:${port}`, port, stop };
}

/** PostgreSQL refuses to run as root. */
function asItsUser(folder: string) {
  const isRoot = userInfo().uid === 0;
  if (isRoot) {
    const { uid, gid } = accountOf("postgres");
    chownSync(folder, uid, gid);
    return (program: string, args: string[]) =>
      execa(postgresProgram(program), args, { cwd: folder, uid, gid, stdio: "ignore" });
  }
  return (program: string, args: string[]) =>
    execa(postgresProgram(program), args, { cwd: folder, stdio: "ignore" });
}

/** Debian installs server programs outside the path; takes the newest version. */
export function postgresProgram(program: string): string {
  const versions = "/usr/lib/postgresql";
  const [newest] = (existsSync(versions) ? readdirSync(versions) : []).sort((a, b) => Number(b) - Number(a));
  return newest === undefined ? program : join(versions, newest, "bin", program);
}

function accountOf(name: string): { uid: number; gid: number } {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || gid === undefined)
    throw new Error(`there is no user ${name}: apt-get install postgresql`);
  return { uid: Number(uid), gid: Number(gid) };
}
