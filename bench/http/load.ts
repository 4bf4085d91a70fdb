import { execFileSync } from "node:child_process";
import type { Server } from "./servers.ts";

export interface Load {
  perSecond: number;
  /** Milliseconds. */
  p99: number;
  /** What the server's processes computed for one request, in microseconds. */
  cpu: number;
}

export interface LoadOptions {
  headers?: readonly string[];
  /** A Lua file that gives the requests. */
  script?: string;
}

export const connections = 16;
const seconds = 2;

/** Asks one server over some connections from one thread; ends by itself. */
export function load(server: Server, path: string, { headers = [], script }: LoadOptions = {}): Load {
  const url = server.url + path;
  const options = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "20s", "--latency"];
  const asked = headers.flatMap((header) => ["-H", header]);
  const args = [...options, ...asked, ...(script ? ["-s", script] : []), url];
  const before = server.cpuSeconds();
  const text = execFileSync("wrk", args, { encoding: "utf8" });
  const computed = server.cpuSeconds() - before;
  const count = Number(/(\d+) requests in/.exec(text)?.[1]);
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
  const [, amount, unit = ""] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? [];
  const errors = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.+)/.exec(text)?.[0];
  if (errors || !(perSecond > 0)) throw new Error(`${url}: ${errors ?? text}`);
  return {
    perSecond,
    p99: Number(amount) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? 1),
    cpu: (computed * 1e6) / count,
  };
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** The median of what each round says of two servers: a busy moment meets both. */
export const medianRatio = (ones: readonly number[], others: readonly number[]): number =>
  median(ones.map((one, round) => one / (others[round] ?? Number.NaN)));
