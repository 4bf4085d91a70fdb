import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository, spawnRelcat, temporaryFolder } from "./run.ts";

const preload = ["--import", join(repository, "test/support/kill-at.mjs")];

/** How many file-system calls a command makes. */
export async function countCalls(folder: string, args: readonly string[]): Promise<number> {
  const counter = join(temporaryFolder(), "count");
  const { exitCode, stderr } = await spawnRelcat(folder, args, {
    nodeArgs: preload,
    env: { KILL_COUNT: counter, NODE_DISABLE_COMPILE_CACHE: "1" },
  });
  if (exitCode !== 0) throw new Error(stderr);
  return Number(readFileSync(counter, "utf8"));
}

/** Runs a command that dies by SIGKILL before its file-system call number `call`, a torn write included. */
export async function killedAt(call: number, folder: string, args: readonly string[]): Promise<void> {
  const { signal, stderr } = await spawnRelcat(folder, args, {
    nodeArgs: preload,
    env: { KILL_AT: String(call), NODE_DISABLE_COMPILE_CACHE: "1" },
  });
  if (signal !== "SIGKILL") throw new Error(`not killed at ${call}: ${stderr}`);
}
