import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, renameSync, rmSync } from "node:fs";
import { nextScript } from "./next-script.ts";

/**
 * Runs relcat for a guide, and then runs the commands of each "Next" line that relcat printed. They run in a copy of
 * FOLDER, so the guide continues with unchanged files. Their results are appended to LOG. A server at the address
 * RELCAT_PASTED_BUCKET does the same for a bucket.
 *
 * node paste-next.ts RELCAT FOLDER LOG ARGUMENT…
 */
const [program = "", folder = "", log = "", ...args] = process.argv.slice(2);
const cwd = process.cwd();

const running = spawn(process.execPath, [program, ...args], { stdio: ["inherit", "pipe", "pipe"] });
let said = "";
for (const [from, to] of [
  [running.stdout, process.stdout],
  [running.stderr, process.stderr],
] as const)
  from.on("data", (chunk: Buffer) => {
    said += chunk;
    to.write(chunk);
  });
const status = await new Promise<number | null>((resolve) => running.on("close", resolve));
for (const [, next = ""] of said.matchAll(/^Next: (.*)$/gm)) await paste(next);
process.exitCode = status ?? 1;

interface Outcome {
  exitCode: number | null;
  output: string;
}

/** A line of the log. */
export interface Pasted extends Outcome {
  /** The command that printed the line. */
  command: string;
  next: string;
  script: string;
}

async function paste(next: string): Promise<void> {
  const command = `relcat ${args.join(" ")}`;
  const script = nextScript(next);
  const outcome = script === "" ? { exitCode: 0, output: "" } : await inCopy(script);
  const pasted: Pasted = { command, next, script, ...outcome };
  appendFileSync(log, `${JSON.stringify(pasted)}\n`);
}

function inShell(script: string): Outcome {
  const env = { ...process.env, RELCAT_PASTED: "" };
  const shell = ["-c", `set -euo pipefail\n${script}`];
  const { status, stdout, stderr } = spawnSync("bash", shell, { cwd, env, encoding: "utf8" });
  return { exitCode: status, output: `${stdout}${stderr}` };
}

/** The copy gets the folder's name meanwhile, because configuration and environment have absolute paths. */
async function inCopy(script: string): Promise<Outcome> {
  const kept = `${folder}.kept`;
  renameSync(folder, kept);
  await switchBucket("copy");
  try {
    cpSync(kept, folder, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    return inShell(script);
  } finally {
    await switchBucket("kept");
    rmSync(folder, { recursive: true, force: true });
    renameSync(kept, folder);
  }
}

async function switchBucket(to: "copy" | "kept"): Promise<void> {
  const address = process.env.RELCAT_PASTED_BUCKET;
  if (address) await fetch(`${address}/${to}`);
}
