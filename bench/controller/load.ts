import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Fleet } from "./fleet.ts";

/** What wrk is to ask. `states`: what devices are moved between. */
export interface Questions {
  kind: "one" | "list" | "single" | "bulk";
  connections: number;
  states?: readonly [string, string];
  /** Where one answer takes its time. */
  seconds?: number;
}

export interface Load {
  perSecond: number;
  /** Milliseconds; undefined where it was not measured. */
  p99?: number;
  count: number;
}

export const seconds = 2;
const script = join(import.meta.dirname, "requests.lua");
const milliseconds: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };

/** Asks one server from one thread; ends by itself. */
export function wrk(url: string, fleet: Fleet, questions: Questions): Load {
  const { kind, connections, states } = questions;
  const size = kind === "bulk" ? 1000 : 1;
  const first = Math.ceil(fleet.moved / size);
  const options = [
    "-t1",
    `-c${connections}`,
    `-d${questions.seconds ?? seconds}s`,
    "--timeout",
    "10s",
    "--latency",
    "-s",
    script,
  ];
  const rest = ["--", kind, `${first}`, `${fleet.devices}`, ...(states ?? [])];
  const header = ["-H", `Authorization: ${fleet.authorization}`];
  const address = `${url}/-net/api/v0`;
  const text = execFileSync("wrk", [...options, ...header, address, ...rest], { encoding: "utf8" });
  const count = Number(/(\d+) requests in/.exec(text)?.[1]);
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
  const [, amount, unit = ""] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? [];
  const errors = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.+)/.exec(text)?.[0];
  if (errors || !(perSecond > 0)) throw new Error(`${url}, ${kind}: ${errors ?? text}`);
  // Those on their way when wrk ended were taken, though not counted.
  if (states) fleet.moved = (first + count + connections) * size;
  return { perSecond, p99: Number(amount) * (milliseconds[unit] ?? 1), count };
}
