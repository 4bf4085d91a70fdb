import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const repository = resolve(import.meta.dirname, "../..");

export interface Server {
  url: string;
  /** What all its processes computed so far. */
  cpuSeconds(): number;
  /** Resident memory of all its processes in bytes, now and at most. */
  memory(): { now: number; most: number };
  stop(): void;
}

/** `relcat serve`, as one process or as several on one port. */
export async function origin(site: string, port: number, processes: number): Promise<Server> {
  const serve = ["serve", "--quiet", "--dir", site, "--port", `${port}`, "--reuse-port"];
  const command = [process.execPath, join(repository, "cli/relcat.mjs"), ...serve];
  const children = Array.from({ length: processes }, () => start(command));
  return started(children, `http://127.0.0.1:${port}`, "/healthz");
}

export interface NginxOptions {
  workers: number;
  sendfile?: boolean;
}

/** nginx over the same files, with what lies beside them compressed. */
export async function nginx(
  site: string,
  folder: string,
  port: number,
  { workers, sendfile = true }: NginxOptions,
): Promise<Server> {
  const path = join(folder, `nginx-${port}.conf`);
  writeFileSync(path, configuration(site, folder, port, workers, sendfile));
  const child = start(["nginx", "-c", path, "-g", "daemon off;"]);
  return started([child], `http://127.0.0.1:${port}`, "/build.json");
}

const configuration = (site: string, folder: string, port: number, workers: number, sendfile: boolean) => `
worker_processes ${workers};
pid ${folder}/nginx-${port}.pid;
error_log ${folder}/nginx-${port}.log;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000; open_file_cache max=1000;
  ${sendfile ? "sendfile on; tcp_nopush on;" : "sendfile off; output_buffers 2 1m;"}
  types { application/json json; text/html html; }
  server { listen 127.0.0.1:${port} reuseport; root ${site}; index index.json; gzip_static on; }
}
`;

/** Node without relcat: the answer another server gave, from memory. */
export async function bare(url: string, folder: string, port: number): Promise<Server> {
  const [body, headers] = [join(folder, `bare-${port}.body`), join(folder, `bare-${port}.headers`)];
  const answer = await fetch(url, { headers: { "accept-encoding": "identity" } });
  writeFileSync(body, new Uint8Array(await answer.arrayBuffer()));
  const added = ["connection", "date", "keep-alive"];
  const own = [...answer.headers].filter(([name]) => !added.includes(name));
  writeFileSync(headers, JSON.stringify(own.flat()));
  const command = [process.execPath, join(import.meta.dirname, "bare.ts"), body, headers, `${port}`];
  return started([start(command)], `http://127.0.0.1:${port}`, "/");
}

function start([program = "", ...args]: readonly string[]): ChildProcess {
  return spawn(program, args, { stdio: "ignore" });
}

async function started(children: ChildProcess[], url: string, path: string): Promise<Server> {
  const stop = () => {
    for (const child of children) child.kill("SIGTERM");
  };
  for (let tries = 0; ; tries++) {
    const answer = await fetch(url + path, { headers: { connection: "close" } }).catch(() => undefined);
    if (answer?.ok) break;
    const ended = children.some((child) => child.exitCode !== null);
    if (ended || tries > 200) {
      stop();
      throw new Error(`the server for ${url} does not answer: ${answer?.status}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const processes = () => children.flatMap(({ pid }) => (pid === undefined ? [] : [pid, ...childrenOf(pid)]));
  const sum = (numberOf: (pid: number) => number) =>
    processes().reduce((total, pid) => total + numberOf(pid), 0);
  return {
    url,
    cpuSeconds: () => sum(cpuSeconds),
    memory: () => ({ now: sum(bytesOf("VmRSS")), most: sum(bytesOf("VmHWM")) }),
    stop,
  };
}

/** nginx computes in processes of its own. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

/** The kernel counts in hundredths. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const bytesOf = (field: string) => (pid: number) =>
  Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) *
  1024;
