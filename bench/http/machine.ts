import { execFileSync } from "node:child_process";
import { arch, cpus, platform, totalmem } from "node:os";
import { setTimeout as wait } from "node:timers/promises";

const quietEnough = 0.15;
let patience = 60_000;
const seen: number[] = [];

/** Waits until others leave the machine alone, a minute over a whole run; then goes on as it is. */
export async function quiet(): Promise<void> {
  for (;;) {
    const busy = await busyShare();
    if (busy < quietEnough || patience <= 0) {
      seen.push(busy);
      return;
    }
    patience -= 700;
    await wait(500);
  }
}

async function busyShare(): Promise<number> {
  const before = times();
  await wait(200);
  const after = times();
  return 1 - (after.idle - before.idle) / Math.max(after.all - before.all, 1);
}

function times(): { idle: number; all: number } {
  const all = cpus().flatMap((cpu) => Object.values(cpu.times));
  const sum = (values: number[]) => values.reduce((total, each) => total + each, 0);
  return { idle: sum(cpus().map((cpu) => cpu.times.idle)), all: sum(all) };
}

/** How many of the rounds had the machine to themselves. */
export function quietRounds(): string {
  return `${quietOnes().length} of ${seen.length} rounds began on a machine that was less than ${quietEnough * 100} % busy`;
}

/** Whether others ran beside in most rounds. */
export const wasBusy = (): boolean => quietOnes().length < seen.length / 2;

const quietOnes = (): number[] => seen.filter((busy) => busy < quietEnough);

/** The computer and Node. */
export function hardware(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, ${memory} GiB, ${platform()} ${arch()}, Node ${process.version}`;
}

export function machine(): string {
  const nginx = execFileSync("sh", ["-c", "nginx -v 2>&1"], { encoding: "utf8" }).trim().split("/")[1];
  return `${hardware()}, nginx ${nginx}`;
}
