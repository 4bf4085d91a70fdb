import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { execa, type Options } from "execa";
import { inject } from "vitest";
import { afterFile } from "./after-file.ts";
import { requireListedStatus } from "./exit-status.ts";
import { movedClock } from "./moved-clock.ts";
import type { TimedResult, WarmCommand, WarmResult } from "./warm-commands.ts";

export const repository = resolve(import.meta.dirname, "../..");
/** relcat's installed launcher. */
export const program = inject("program");

/** A folder that is removed after the test file's last test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "relcat-test-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const made = new Map<string, Promise<string>>();

/**
 * A folder that the first test which needs it makes, for all processes of the run. Tests copy it, or add files of their own.
 * @param make fills a folder, which is renamed afterwards
 */
export function madeOnce(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const place = join(lastingPlace, createHash("sha256").update(name).digest("hex"));
  const known = made.get(name) ?? (existsSync(place) ? Promise.resolve(place) : makeAt(place, make));
  made.set(name, known);
  return known;
}

async function makeAt(place: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = lastingFolder();
  await make(folder);
  try {
    renameSync(folder, place);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(place)) throw error;
  }
  return place;
}

const lastingPlace = resolve(program, "../..");

/** A folder for all test files of this process; removed after the run. */
export const lastingFolder = (): string => mkdtempSync(join(lastingPlace, "lasting-"));

/** A copy of a fixture, or of the repository's sample for ".", to change at will. */
export function copyProject(fixture: string, folder = temporaryFolder()): string {
  const from =
    fixture === "." ? join(repository, "releases") : join(repository, "test/fixtures", fixture, "releases");
  cpSync(from, join(folder, "releases"), { recursive: true });
  return folder;
}

/** A copy of the sample without its package feeds, which need a key of their own in signed sites. */
export function sampleWithoutFeeds(into = temporaryFolder()): string {
  const folder = copyProject(".", into);
  const config = join(folder, "releases/catalog.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace(/^feeds:\n(?: .*\n)+/m, ""));
  return folder;
}

const notOurs = { SOURCE_DATE_EPOCH: undefined, CI: undefined, GITHUB_ACTIONS: undefined };

type Env = Record<string, string | undefined>;

/** Runs the command in a new process, as users do; never rejects. */
export async function spawnRelcat(
  folder: string,
  args: readonly string[],
  options: Options & { nodeArgs?: readonly string[] } = {},
) {
  const { nodeArgs = [], ...rest } = options;
  const env = { ...notOurs, ...rest.env } as Record<string, string | undefined>;
  const result = await execa(process.execPath, [...nodeArgs, program, ...args], {
    cwd: folder,
    reject: false,
    ...rest,
    env,
  });
  const stdout = String(result.stdout ?? "");
  requireListedStatus(args, result.exitCode);
  await checkOutput(args, stdout);
  return { ...result, stdout, stderr: String(result.stderr ?? "") };
}

/** Node's options for a machine whose file system refuses some calls of node:fs, as SMB and FUSE refuse links. */
export const refusing = (...calls: readonly string[]) => failing("ENOTSUP", ...calls);

/** Node's options for a machine on which some calls of node:fs fail with this code. */
export function failing(code: string, ...calls: readonly string[]): { nodeArgs: string[] } {
  const refuse = `for (const call of ${JSON.stringify(calls)}) fs[call] = () => { throw Object.assign(new Error(call), { code: ${JSON.stringify(code)}, syscall: call }); };`;
  return {
    nodeArgs: [
      "--import",
      `data:text/javascript,${encodeURIComponent(`import fs from "node:fs"; ${refuse}`)}`,
    ],
  };
}

/**
 * Runs the command in a process that may have run others before it; never rejects.
 * @param options.ahead milliseconds by which the clock of its machine is wrong
 */
export async function relcat(
  folder: string,
  args: readonly string[],
  { env: own = {}, input = "", ahead = 0 }: { env?: Env; input?: string; ahead?: number } = {},
): Promise<WarmResult> {
  // Node reads its own variables only when it starts.
  if (Object.keys(own).some((name) => name.startsWith("NODE_"))) {
    const clock = ahead === 0 ? {} : movedClock(ahead);
    const { exitCode = -1, stdout, stderr } = await spawnRelcat(folder, args, { env: own, input, ...clock });
    return { exitCode, stdout, stderr };
  }
  const all: Env = { ...process.env, ...notOurs, ...own };
  const set = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const result = await runWarm({ cwd: folder, args, env: Object.fromEntries(set), input, ahead });
  const [stdout = "", stderr = ""] = [result.stdout, result.stderr].map((output) =>
    output.replace(/\r?\n$/, ""),
  );
  return { ...result, stdout, stderr };
}

let warm = 0;

/** Seconds of processor time of all commands that this process ran so. */
export const warmSeconds = (): number => warm;

/** @throws if it prints a document that its schema does not allow, or exits with a status that its help does not list */
export async function runWarm(command: WarmCommand): Promise<WarmResult> {
  const socket = connect(inject("warmCommands"));
  socket.end(JSON.stringify(command));
  const { error, seconds, ...result }: { error?: string } & TimedResult = JSON.parse(await text(socket));
  if (error) throw new Error(`relcat ${command.args.join(" ")}: ${error}`);
  warm += seconds;
  requireListedStatus(command.args, result.exitCode);
  await checkOutput(command.args, result.stdout);
  return result;
}

/** Loads the schemas only for documents. */
async function checkOutput(args: readonly string[], stdout: string): Promise<void> {
  if (args.includes("--json")) (await import("./json-output.ts")).requireKnownOutput(args, stdout);
}
