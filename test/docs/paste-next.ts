import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, renameSync, rmSync } from "node:fs";
import { nextScript } from "./next-script.ts";

/**
 * Runs relcat for a guide, and then runs the commands of each "Next" line that relcat printed. They run in a copy of
 * FOLDER, so the guide continues with unchanged files. Their results are appended to LOG.
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
for (const [, next = ""] of said.matchAll(/^Next: (.*)$/gm)) paste(next);
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

function paste(next: string): void {
  const command = `relcat ${args.join(" ")}`;
  const script = nextScript(next);
  const outcome = script === "" ? { exitCode: 0, output: "" } : inCopy(script);
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
function inCopy(script: string): Outcome {
  const kept = `${folder}.kept`;
  renameSync(folder, kept);
  try {
    cpSync(kept, folder, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    const outcome = inShell(script);
    // A held site refuses a plain publish on purpose. The hint of that refusal must work.
    const [, wayOut] =
      /error\[site-held\].*\n +hint: When that is mended: (relcat [^.]*)\./.exec(outcome.output) ?? [];
    return wayOut === undefined ? outcome : inShell(wayOut);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    renameSync(kept, folder);
  }
}
