import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Fleet, pepper } from "./fleet.ts";
import { type Load, type Questions, wrk } from "./load.ts";

export interface Measured extends Load {
  /** Microseconds that the server's processes computed for one request. */
  cpu: number;
}

/** What a server says at its end. */
export interface Report {
  /** Bytes that were resident at most, of all processes. */
  memory: number;
  /** Milliseconds that one event loop was blocked at most after the first round. */
  block: number;
}

/** One of those that a case measures. */
export interface Contender {
  name: string;
  load(): Measured;
  /** After the first round, which warms up. */
  begin?(): void;
  stop(): Promise<Report | undefined>;
}

let port = 8400;
const running: ChildProcess[] = [];

/** Whatever happened. */
export const endAll = (): Promise<unknown> => Promise.all(running.map(end));

/** Controllers on one database, sharing a port. */
export function controller(
  name: string,
  fleet: Fleet,
  questions: Questions,
  processes = 1,
): Promise<Contender> {
  const command = ["serve.ts", fleet.database, pepper];
  return started(name, fleet, questions, Array(processes).fill(command));
}

/** See limits.ts. */
export function limit(
  kind: "hono" | "update",
  name: string,
  fleet: Fleet,
  questions: Questions,
): Promise<Contender> {
  return started(name, fleet, questions, [["limits.ts", kind, fleet.database]]);
}

async function started(
  name: string,
  fleet: Fleet,
  questions: Questions,
  commands: readonly (readonly string[])[],
): Promise<Contender> {
  port++;
  const children = commands.map(([script = "", ...args]) =>
    // docs/controller.md advises this flag, which saves memory.
    spawn(
      process.execPath,
      ["--max-semi-space-size=8", join(import.meta.dirname, script), ...args, `${port}`],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    ),
  );
  running.push(...children);
  const outputs = await Promise.all(children.map(listening));
  const url = `http://127.0.0.1:${port}`;
  return {
    name,
    load() {
      const before = sum(children, cpuSeconds);
      const load = wrk(url, fleet, questions);
      return { ...load, cpu: ((sum(children, cpuSeconds) - before) * 1e6) / load.count };
    },
    begin() {
      for (const child of children) child.kill("SIGUSR2");
    },
    async stop() {
      const memory = sum(children, mostResident);
      await Promise.all(children.map(end));
      return {
        memory,
        block: Math.max(...outputs.map((text) => Number(text().split("\n")[1] || Number.NaN))),
      };
    },
  };
}

/** @returns what it has said since */
async function listening(child: ChildProcess): Promise<() => string> {
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += chunk;
  });
  await Promise.race([once(child.stdout ?? child, "data"), once(child, "exit")]);
  if (child.exitCode !== null) throw new Error("a server of the bench does not start");
  return () => text;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
  await gone;
  clearTimeout(timer);
}

const sum = (children: readonly ChildProcess[], numberOf: (pid: number) => number): number =>
  children.reduce((total, { pid }) => total + numberOf(pid ?? 0), 0);

/** The kernel counts in hundredths. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const mostResident = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
