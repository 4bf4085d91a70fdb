import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { type Cost, measured, type Run } from "../publish/measure.ts";

/** A program that is measured. What it makes it writes into the folder $OUT. */
export interface Command extends Run {
  argv: readonly [string, ...string[]];
}

const inARow = `n=0
while [ "$n" -lt "$TIMES" ]; do
  n=$((n + 1))
  OUT="$OUTS/$n" "$@" >/dev/null || exit 1
done`;

/**
 * Runs a program some times in a row, each time with another folder to write to: a single short run lies below what
 * the clock tells apart.
 * @param outs is emptied first; the runs write into its folders 1, 2, …
 * @returns what one run took; the memory of the one that took most
 */
export async function measuredRuns({ argv, cwd, env }: Command, times: number, outs: string): Promise<Cost> {
  rmSync(outs, { recursive: true, force: true });
  mkdirSync(outs, { recursive: true });
  // What others have written must not reach the disk on this one's time.
  execFileSync("sync");
  const loop = ["sh", "-c", inARow, "sh", ...argv] as const;
  const { wall, cpu, peak } = await measured(loop, {
    cwd,
    env: { ...env, TIMES: String(times), OUTS: outs },
  });
  return { wall: wall / times, cpu: cpu / times, peak };
}

/** As often a short program runs in a row at most. */
export const mostTimes = 40;

/** How often a program is to run in a row: for about two seconds. */
export const timesFor = ({ wall }: Cost): number => Math.min(mostTimes, Math.max(1, Math.round(2 / wall)));
