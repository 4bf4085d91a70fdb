import { existsSync, readdirSync, statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { styleText } from "node:util";
import type { CommanderError, CommandUnknownOpts } from "@commander-js/extra-typings";
import { isVersion } from "../shared/version.ts";
import type { Given } from "./terminal/as-given.ts";
import type { Host, Output, OwnPackage } from "./terminal/host.ts";
import { findProject } from "./terminal/project.ts";
import type { Globals } from "./terminal/rows.ts";
import { topicIn } from "./terminal/topic-names.ts";
import { unbufferedOutput } from "./terminal/unbuffered-output.ts";

/** Commands that keep something of each release in memory. */
const largeHeaps = new Set(["build", "release"]);

/** Number of releases. */
const largeCatalog = 100;

/**
 * Otherwise V8 lets the heap double before it collects, which takes 120 MB more at 25,000 records and saves no time.
 * With few releases, it would only collect more often.
 */
async function collectEarlier({ releases }: Host): Promise<void> {
  const names = existsSync(releases) ? readdirSync(releases) : [];
  if (names.length > largeCatalog) (await import("node:v8")).setFlagsFromString("--heap-growing-percent=30");
}

/** Runs the command line. The only code that uses `process`. */
export async function main(own: OwnPackage): Promise<void> {
  // CI sets a variable without a value to an empty text.
  if (process.env.RELCAT_SITE === "") delete process.env.RELCAT_SITE;
  let host = hostOf({ color: true }, own);
  process.on("uncaughtException", (error) => endWithBug(error, host));
  if (await isUnchangedBuild(host)) return;
  // Enabled late, because opening the cache costs more than it saves for the few modules loaded so far.
  enableCompileCache();
  for (const stream of [process.stdout, process.stderr]) guarded(stream);
  // Loading commander takes a third of the time of an unchanged build.
  const [{ CommanderError }, { createProgram }] = await Promise.all([
    import("@commander-js/extra-typings"),
    import("./commands.ts"),
  ]);
  let status = 0;
  const program = createProgram(own, host, async (verb, json) => {
    const globals = program.opts();
    const asked = json ? { ...globals, json } : globals;
    // A hint about a wrong -C must not repeat it.
    host = hostOf(asked, own);
    await enter(globals.C);
    host = hostOf(asked, own, { folder: globals.C, ...given });
    if (command.some((word) => largeHeaps.has(word))) await collectEarlier(host);
    const endTrace = host.verbose ? (await import("./terminal/trace.ts")).trace(host) : undefined;
    status = (await verb(host).finally(endTrace)) ?? status;
  });
  let given: Given = {};
  program.hook("preAction", (_, action) => {
    given = givenTo(action);
  });
  const command = [program.name()];
  const follow = (_: unknown, subcommand: CommandUnknownOpts) => {
    command.push(subcommand.name());
    subcommand.hook("preSubcommand", follow);
  };
  program.hook("preSubcommand", follow);
  try {
    const { words } = host;
    if (words.includes("--json")) host = hostOf({ color: !words.includes("--no-color"), json: true }, own);
    if (words.length > 1 && words.some((word) => /^(-V$|--version)/.test(word)))
      (await import("./terminal/misplaced-version.ts")).refuseMisplacedVersion(program, words);
    const topic = topicIn(words);
    if (topic) (await import("./terminal/topics.ts")).showTopic(topic, program, host);
    else await program.parseAsync(wordsOf(program), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError)
      status = await refuse(error, command.join(" "), hostOf(program.opts(), own));
    else status = await (await import("./terminal/fail.ts")).fail(error, host);
  }
  process.exitCode ??= status;
}

/** Options that hints for later commands must repeat. */
function givenTo(action: CommandUnknownOpts): Given {
  const name = action.name();
  if (!["build", "sign", "publish", "release", "rollback"].includes(name)) return {};
  const { site, out } = action.opts() as { site?: string; out?: string };
  // Options from the environment are not repeated, because the next command reads them there too.
  const isGiven = (option: string) => action.getOptionValueSource(option) === "cli";
  const [argument = ""] = action.registeredArguments[0]?.name() === "site" ? action.args : [];
  // release also accepts versions without a site.
  const named = argument === "" || isVersion(argument) ? undefined : argument;
  return {
    site: isGiven("site") ? site : named,
    out: name !== "rollback" && isGiven("out") ? out : undefined,
  };
}

async function isUnchangedBuild(host: Host): Promise<boolean> {
  if (host.words[0] !== "build") return false;
  const { reportUnchangedBuild } = await import("./catalog/unchanged-build.ts");
  const inColor = (stream: NodeJS.WriteStream) => outputOf(stream, !host.words.includes("--no-color"));
  // Inherits from the host instead of copying it, because reading its streams would create them.
  const reporting = (): Host =>
    Object.create(host, {
      json: { value: host.words.includes("--json") },
      data: { value: unbufferedOutput(1, () => guarded(process.stdout), inColor) },
      messages: { value: unbufferedOutput(2, () => guarded(process.stderr), inColor) },
    });
  return reportUnchangedBuild(host, reporting);
}

/** `help` would show the whole program for an unknown command, so its name is reported instead. */
function wordsOf({ commands }: { commands: readonly CommandUnknownOpts[] }): string[] {
  const words = process.argv.slice(2);
  const [first, name = ""] = words;
  const isUnknown = /^\w/.test(name) && !commands.some((command) => command.name() === name);
  return first === "help" && isUnknown && name !== "help" ? [name] : words;
}

/** commander reports even help and version as errors. */
async function refuse(error: CommanderError, command: string, host: Host): Promise<number> {
  if (error.exitCode === 0) return 0;
  if (error.code === "commander.help") return 2;
  const { usageErrorOf } = await import("./terminal/commander-error.ts");
  return (await import("./terminal/fail.ts")).fail(usageErrorOf(error, command), host);
}

async function enter(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) {
    const hint = "Give an existing folder with -C; relcat init FOLDER creates a new project.";
    const what = stats ? `${folder} is not a folder` : `there is no folder ${folder} here`;
    const { UsageError } = await import("./terminal/usage.ts");
    throw new UsageError(what, hint, "folder-missing");
  }
  process.chdir(folder);
}

/** @param color false: no colours, even at a terminal */
const outputOf = (stream: NodeJS.WriteStream, color?: boolean): Output => ({
  write: (text) => stream.write(text),
  style: (style, text) => (color === false ? text : styleText([style].flat(), text, { stream })),
  columns: stream.isTTY ? stream.columns : undefined,
});

/** Created lazily: a stream takes a twentieth of Node's start-up time. */
function hostOf({ color, json, quiet, verbose }: Partial<Globals>, own: OwnPackage, given: Given = {}): Host {
  const { env } = process;
  // Searched lazily, because only then the process is in the folder of -C.
  let project: string | undefined;
  const inProject = (name: string) => {
    project ??= findProject(".", process.getuid?.()) ?? ".";
    return project === "." ? name : `${project}/${name}`;
  };
  return {
    get releases() {
      return inProject("releases");
    },
    get dist() {
      return inProject("dist");
    },
    get data() {
      return outputOf(process.stdout, color);
    },
    get messages() {
      return outputOf(process.stderr, color);
    },
    json: json ?? false,
    quiet: quiet ?? false,
    verbose: verbose ?? false,
    clock: Date.now(),
    pid: process.pid,
    node: process.version,
    words: process.argv.slice(2),
    sourceDateEpoch: env.SOURCE_DATE_EPOCH,
    environment: env,
    get confirm() {
      return process.stdin.isTTY && process.stderr.isTTY && !env.CI ? confirm : undefined;
    },
    ask: async (question, isSecret) => {
      const interrupt = () => process.kill(process.pid, "SIGINT");
      return (await import("./terminal/ask.ts")).ask(question, isSecret, {
        input: process.stdin,
        messages: process.stderr,
        interrupt,
      });
    },
    own,
    given,
  };
}

/** The terminal edits the line, so Ctrl-C ends the process as usual; Ctrl-D means no. */
async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import("node:readline");
  process.stderr.write(`${question} [y/N] `);
  const lines = createInterface({ input: process.stdin, terminal: false });
  try {
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close(); // an open reader would keep the process running
  }
}

const guarded = (stream: NodeJS.WriteStream): NodeJS.WriteStream =>
  stream.listeners("error").includes(endedOutput) ? stream : stream.on("error", endedOutput);

const failedOutputs = new WeakSet<NodeJS.WriteStream>();

/** A closed pipe (`relcat … | head`) is not an error; a full disk is. Each write to it fails, but one report is enough. */
function endedOutput(this: NodeJS.WriteStream, error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED") return;
  process.exitCode = 2;
  if (this === process.stderr || failedOutputs.has(this)) return;
  failedOutputs.add(this);
  guarded(process.stderr).write(`error[file-access] cannot write the output (${error.code})\n`);
}

/** The handler ends a failure of standard error. Otherwise each report of it would fail and be reported again. */
function endWithBug(error: unknown, host: Host): void {
  guarded(process.stderr);
  const report = import("./terminal/fail.ts").then(({ reportBug }) => reportBug(error, host));
  report.catch(() => 70).then((status) => (process.exitCode = status));
}
