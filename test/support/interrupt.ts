import { readFileSync } from "node:fs";
import { join } from "node:path";
import { often } from "./effort.ts";
import { repository, spawnRelcat, temporaryFolder } from "./run.ts";

const preload = ["--import", join(repository, "test/support/kill-at.mjs")];

/** The names of the file-system calls that a command makes, in order. */
export async function callsOf(folder: string, args: readonly string[]): Promise<string[]> {
  const counter = join(temporaryFolder(), "count");
  const { exitCode, stderr } = await spawnRelcat(folder, args, {
    nodeArgs: preload,
    env: { KILL_COUNT: counter },
  });
  if (exitCode !== 0) throw new Error(stderr);
  return readFileSync(counter, "utf8").split("\n");
}

/** How many file-system calls a command makes. */
export const countCalls = async (folder: string, args: readonly string[]): Promise<number> =>
  (await callsOf(folder, args)).length;

/**
 * Numbers of calls at which a command is killed: a sample that changes each day, the first of each name, the last that
 * renames or removes a file, and the last four. Under .ci/nightly all of them.
 */
export function killPoints(calls: readonly string[], every: number): number[] {
  const step = often(1, every);
  const today = Math.floor(Date.now() / 86_400_000);
  const isChosen = (name: string, index: number) =>
    index % step === today % step ||
    calls.indexOf(name) === index ||
    (/^(rename|unlink)/.test(name) && calls.lastIndexOf(name) === index) ||
    index >= calls.length - 4;
  return calls.flatMap((name, index) => (isChosen(name, index) ? [index + 1] : []));
}

/** Kills a command with SIGKILL before its file-system call number `call`, or in the middle of a write. */
export async function killedAt(call: number, folder: string, args: readonly string[]): Promise<void> {
  const { signal, stderr } = await spawnRelcat(folder, args, {
    nodeArgs: preload,
    env: { KILL_AT: String(call) },
  });
  if (signal !== "SIGKILL") throw new Error(`not killed at ${call}: ${stderr}`);
}
