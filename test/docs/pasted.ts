import { randomUUID } from "node:crypto";
import { cpSync, renameSync, rmSync } from "node:fs";
import { execa } from "execa";
import { expect } from "vitest";
import { afterFile } from "../support/after-file.ts";
import { isNightly } from "../support/effort.ts";
import { runWarm } from "../support/run.ts";
import type { S3Fake } from "../support/s3-fake.ts";
import { nextScript } from "./next-script.ts";
import { type ShellCommand, shellRelcat } from "./shell-relcat.ts";

interface Outcome {
  exitCode: number | undefined;
  output: string;
}

/** A "Next" line whose commands were run. */
interface Pasted extends Outcome {
  /** The command that printed the line. */
  command: string;
  next: string;
  script: string;
}

/** Lines that were pasted in the current file. By day, a line that the same command line prints again is not. */
const known = new Set<string>();

/** Results of `withNextPasted`, by the value of RELCAT_PASTED. */
const collections = new Map<string, { pasted: Pasted[]; service: S3Fake | undefined }>();

/** A shell script `relcat`. If RELCAT_PASTED is set, "Next" lines are pasted in a copy of `folder`. */
export const launcher = (folder: string): Promise<string> => shellRelcat(folder, runAndPaste);

async function runAndPaste(command: ShellCommand) {
  const result = await runWarm(command);
  const collection = collections.get(command.env.RELCAT_PASTED ?? "");
  if (collection) {
    for (const [, next = ""] of `${result.stdout}${result.stderr}`.matchAll(/^Next: (.*)$/gm)) {
      const script = nextScript(next);
      const line = `${command.args.join(" ")} → ${next}`;
      const isKnown = !isNightly && known.has(line);
      known.add(line);
      const outcome =
        script === "" || isKnown
          ? { exitCode: 0, output: "" }
          : await inCopy(script, command, collection.service);
      collection.pasted.push({ command: `relcat ${command.args.join(" ")}`, next, script, ...outcome });
    }
  }
  return result;
}

/** The copy gets the folder's name for that time, because configuration and environment have absolute paths. */
async function inCopy(script: string, { world, cwd, env }: ShellCommand, service: S3Fake | undefined) {
  const kept = `${world}.kept`;
  const bucket = service?.bucket;
  renameSync(world, kept);
  if (service) service.bucket = service.bucket.copy();
  try {
    cpSync(kept, world, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    const { exitCode, all } = await execa("bash", ["-c", `set -euo pipefail\n${script}`], {
      cwd,
      env: { ...env, RELCAT_PASTED: "" },
      extendEnv: false,
      reject: false,
      all: true,
    });
    return { exitCode, output: String(all) };
  } finally {
    if (service && bucket) service.bucket = bucket;
    rmSync(world, { recursive: true, force: true });
    renameSync(kept, world);
  }
}

/**
 * Asserts that each "Next" line works that `run` makes a `launcher` print.
 * @param service pasted commands get a copy of its bucket, too
 */
export async function withNextPasted<T>(
  run: (env: Record<string, string>) => Promise<T>,
  service?: S3Fake,
): Promise<T & { pasted: string[] }> {
  afterFile(() => known.clear());
  const id = randomUUID();
  const pasted: Pasted[] = [];
  collections.set(id, { pasted, service });
  const result = await run({ RELCAT_PASTED: id });
  expect(pasted.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
  return { ...result, pasted: pasted.map(({ next }) => next) };
}
