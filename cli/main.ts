import { statSync } from "node:fs";
import { styleText } from "node:util";
import type { CommanderError, CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Host, Output, OwnPackage } from "./host.ts";
import type { Globals } from "./rows.ts";

/** Runs the command line of this process. The only place that touches `process`. */
export async function main(own: OwnPackage): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", endedOutput);
  let host = hostOf({ color: true }, own);
  process.on("uncaughtException", (error) => endWithBug(error, host));
  if (await isUnchangedBuild(host)) return;
  // commander is a third of what an unchanged build takes.
  const [{ CommanderError }, { createProgram }] = await Promise.all([
    import("@commander-js/extra-typings"),
    import("./commands.ts"),
  ]);
  let status = 0;
  const program = createProgram(own, host, async (verb, json) => {
    const globals = program.opts();
    host = hostOf(json ? { ...globals, json } : globals, own);
    await enter(globals.C);
    status = await verb(host);
  });
  const command = [program.name()];
  const follow = (_: unknown, subcommand: CommandUnknownOpts) => {
    command.push(subcommand.name());
    subcommand.hook("preSubcommand", follow);
  };
  program.hook("preSubcommand", follow);
  try {
    await program.parseAsync(wordsOf(program), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError)
      status = await refuse(error, command.join(" "), hostOf(program.opts(), own));
    else status = await (await import("./fail.ts")).fail(error, host);
  }
  process.exitCode ??= status;
}

const isUnchangedBuild = async (host: Host): Promise<boolean> =>
  host.words[0] === "build" && (await import("./unchanged-build.ts")).replayUnchangedBuild(host);

/** Of an unknown command, `help` would show the whole program's; as a command it is refused by name. */
function wordsOf({ commands }: { commands: readonly CommandUnknownOpts[] }): string[] {
  const words = process.argv.slice(2);
  const [first, name = ""] = words;
  const isUnknown = /^\w/.test(name) && !commands.some((command) => command.name() === name);
  return first === "help" && isUnknown && name !== "help" ? [name] : words;
}

/** commander ends help and version by an error too. */
async function refuse(error: CommanderError, command: string, host: Host): Promise<number> {
  if (error.exitCode === 0) return 0;
  if (error.code === "commander.help") return 2;
  const { usageErrorOf } = await import("./usage.ts");
  return (await import("./fail.ts")).fail(usageErrorOf(error, command), host);
}

async function enter(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    const hint = "Give an existing folder with -C; relcat init FOLDER makes a new project.";
    const what = statSync(folder, { throwIfNoEntry: false })
      ? `${folder} is no folder`
      : `there is no folder ${folder} here`;
    const { UsageError } = await import("./usage.ts");
    throw new UsageError(what, hint, "folder-missing");
  }
  process.chdir(folder);
}

function hostOf({ color, json }: Partial<Globals>, own: OwnPackage): Host {
  const { stdin, stdout, stderr, env } = process;
  const output = (stream: NodeJS.WriteStream): Output => ({
    write: (text) => stream.write(text),
    style: (style, text) => (color === false ? text : styleText([style].flat(), text, { stream })),
    columns: stream.isTTY ? stream.columns : undefined,
  });
  return {
    data: output(stdout),
    messages: output(stderr),
    json: json ?? false,
    clock: Date.now(),
    pid: process.pid,
    node: process.version,
    words: process.argv.slice(2),
    sourceDateEpoch: env.SOURCE_DATE_EPOCH,
    environment: env,
    confirm: stdin.isTTY && stderr.isTTY && !env.CI ? confirm : undefined,
    ask: async (question, isSecret) => {
      const interrupt = () => process.kill(process.pid, "SIGINT");
      return (await import("./ask.ts")).ask(question, isSecret, {
        input: stdin,
        messages: stderr,
        interrupt,
      });
    },
    own,
  };
}

/** The terminal edits the line, so Ctrl-C ends the process as everywhere; Ctrl-D is a no. */
async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import("node:readline");
  process.stderr.write(`${question} [y/N] `);
  const lines = createInterface({ input: process.stdin, terminal: false });
  try {
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close(); // an open one would keep the process waiting for more
  }
}

/** A reader that went away (`relcat … | head`) is no failure; a full disk is. */
function endedOutput(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED") return;
  process.exitCode = 2;
  process.stderr.write(`error[file-access] cannot write the output (${error.code})\n`);
}

function endWithBug(error: unknown, host: Host): void {
  import("./fail.ts").then(({ reportBug }) => {
    process.exitCode = reportBug(error, host);
  });
}
