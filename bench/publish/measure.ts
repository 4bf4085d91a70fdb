import { readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";

/** What a program took from its start to its end. */
export interface Cost {
  /** Seconds. */
  wall: number;
  /** Seconds, of all its threads. */
  cpu: number;
  /** Bytes that were resident at most. */
  peak: number;
}

export interface Run {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** A program that takes longer is ended. */
const longest = 900;

/** Runs what must succeed, and ends by itself. @returns its stdout, and what it took */
export async function measured(
  [program, ...args]: readonly [string, ...string[]],
  { cwd, env }: Run,
): Promise<Cost & { stdout: string }> {
  const report = join(cwd, ".usage");
  const timed = ["-o", report, "-f", "%e %U %S %M", "timeout", "--foreground", "-k", "5", String(longest)];
  const { stdout } = await execa("time", [...timed, program, ...args], { cwd, env, maxBuffer: 1e9 });
  const [wall = 0, user = 0, system = 0, kilobytes = 0] = readFileSync(report, "utf8").split(" ").map(Number);
  return { stdout, wall, cpu: user + system, peak: kilobytes * 1024 };
}
