import { readdirSync, readFileSync } from "node:fs";

/** Ticks of the clock in a second, on every Linux that Node supports. */
const hertz = 100;

interface ProcessTimes {
  parent: number;
  /** Seconds of the process and of its children that have ended. */
  seconds: number;
}

/** @returns undefined for a process that has ended */
function timesOf(pid: number | "self"): ProcessTimes | undefined {
  try {
    // The name in parentheses may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /, "")
      .split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), seconds: ticks / hertz };
  } catch {
    return undefined;
  }
}

/** Seconds of processor time of this process and of its children that have ended. Linux only. */
export const ownSeconds = (): number => timesOf("self")?.seconds ?? 0;

/** Seconds of processor time of the descendants of this process that are running. Linux only. */
export function runningSeconds(): number {
  const all = new Map(
    readdirSync("/proc").flatMap((name) => {
      const times = /^\d+$/.test(name) ? timesOf(Number(name)) : undefined;
      return times ? [[Number(name), times] as const] : [];
    }),
  );
  const isDescendant = (pid: number): boolean => {
    const parent = all.get(pid)?.parent ?? 0;
    return parent === process.pid || (parent > 1 && isDescendant(parent));
  };
  return [...all].reduce((sum, [pid, { seconds }]) => (isDescendant(pid) ? sum + seconds : sum), 0);
}
