import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** A command line, and its inputs from the process that starts it. */
export interface WarmCommand {
  cwd: string;
  args: readonly string[];
  env: Record<string, string>;
  /** Standard input; default: none. */
  input?: string;
  /** Milliseconds by which the clock of the machine is ahead, or behind if negative. */
  ahead?: number;
}

export interface WarmResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A result with the processor time of the command. */
export type TimedResult = WarmResult & { seconds: number };

/** Processes that have relcat loaded and run one command after another, to save their start. */
export interface WarmCommands {
  /** A socket that takes a WarmCommand as JSON and answers with its TimedResult. */
  address: string;
  /** Later commands run in new processes. */
  renew(): void;
  close(): void;
}

/** Bytes; a process that holds more is not used again. */
const memoryLimit = 500e6;

/** Number of processes that may wait for a command. */
const idleLimit = 12;

/**
 * @param launcher of relcat, bundled
 * @param folder for the socket, and for the output of commands
 */
export function warmCommands(launcher: string, folder: string): WarmCommands {
  const all = new Set<ChildProcess>();
  const idle: { child: ChildProcess; options: string; network: string }[] = [];

  async function run(command: WarmCommand): Promise<TimedResult> {
    // Node reads these options only when it starts. A change of the network takes a process some milliseconds.
    const { NODE_OPTIONS: options = "", NODE_EXTRA_CA_CERTS: network = "" } = command.env;
    const fit = idle.filter((each) => each.options === options);
    const found = fit.findLast((each) => each.network === network) ?? fit.at(-1);
    if (found) idle.splice(idle.indexOf(found), 1);
    const child = found?.child ?? (await start(launcher, folder, options));
    all.add(child);
    child.send(command);
    const { memory, ...result } = await answerOf(child);
    if (memory > memoryLimit || mayHoldSite(command, result)) await end(child);
    else idle.push({ child, options, network });
    for (const { child } of idle.splice(0, idle.length - idleLimit)) await end(child);
    return result;
  }

  /** Waits for its exit: until then the next publisher finds the process that holds the site alive. */
  const end = async (child: ChildProcess) => {
    all.delete(child);
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    const asked = await text(socket.iterator({ destroyOnReturn: false }));
    const answer = await run(JSON.parse(asked)).catch(({ message }: Error) => ({ error: message }));
    socket.end(JSON.stringify(answer));
  });
  const address = join(folder, "warm.socket");
  server.listen(address);
  return {
    address,
    renew() {
      for (const { child } of idle.splice(0)) end(child);
    },
    close() {
      server.close();
      for (const child of all) end(child);
    },
  };
}

/** Codes of refusals that come before a publish begins. */
const refusals =
  /^error\[(?:site-(?:tampered|newer|held|unknown|empty)|build-[\w-]+|folder-missing|usage|not-confirmed|git-(?:refused|missing)|content-uncommitted|ledger-unpushed|metadata-changed|notes-changed|clock|feed-unsigned|trust-expired|origin-changed)\]|^error\[artifact-unpublished\] \d/m;

/** A publish that fails after it began may hold the site until its process has ended. */
const mayHoldSite = ({ args }: WarmCommand, { exitCode, stderr }: WarmResult): boolean =>
  exitCode !== 0 && ["publish", "rollback"].includes(args[0] ?? "") && !refusals.test(stderr);

async function start(launcher: string, folder: string, options: string): Promise<ChildProcess> {
  const output = mkdtempSync(join(folder, "output-"));
  const files = ["stdout", "stderr"].map((name) => openSync(join(output, name), "a+"));
  const script = join(import.meta.dirname, "warm-command.mjs");
  const child = fork(script, [launcher, join(output, "stdin")], {
    stdio: ["ignore", ...files, "ipc"],
    execArgv: [],
    env: { ...process.env, NODE_OPTIONS: options },
  });
  for (const file of files) closeSync(file);
  await once(child, "message");
  return child;
}

function answerOf(child: ChildProcess): Promise<TimedResult & { memory: number }> {
  return new Promise((resolve, reject) => {
    const failed = (status: unknown) => reject(new Error(`a process for commands has ended (${status})`));
    child.once("exit", failed);
    child.once("message", (message) => {
      child.off("exit", failed);
      resolve(message as TimedResult & { memory: number });
    });
  });
}
