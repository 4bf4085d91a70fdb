import { failure } from "../../shared/errors.ts";

/** Time-out in milliseconds, long enough for purging a CDN. */
const hookTimeoutMilliseconds = 300_000;

/**
 * Runs a program from catalog.yaml without a shell.
 * @param input for its stdin
 * @param options.folder working directory
 * @param options.hidden environment variables to remove
 * @throws RelcatError hook-failed
 */
export async function runHook(
  name: string,
  [program = "", ...args]: readonly string[],
  input: string,
  { folder, hidden }: { folder: string; hidden: readonly string[] },
): Promise<void> {
  const { execa } = await import("execa");
  const env = Object.fromEntries(hidden.map((variable) => [variable, undefined]));
  // Output goes directly to relcat's own messages, without buffering.
  const options = {
    reject: false,
    input,
    stdout: "ignore",
    stderr: "inherit",
    timeout: hookTimeoutMilliseconds,
    env,
    cwd: folder,
  } as const;
  const result = await execa(program, args, options);
  if (!result.failed) return;
  throw failure(
    "hook-failed",
    `it is published, but ${name} failed: ${result.shortMessage}`,
    "Run the command again: it continues where this one stopped.",
  );
}

/**
 * Time-out in milliseconds. Two consecutive runs still finish within the minute that a connection may be
 * silent.
 */
const timeoutMilliseconds = 25_000;

/**
 * Runs a program without a shell and discards its stdout.
 * @param environment added to the process's own; undefined removes a variable
 * @returns the reason of a failure with the end of stderr; undefined: success
 */
export async function runCommand(
  [program = "", ...args]: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const { execa } = await import("execa");
  const result = await execa(program, args, {
    reject: false,
    stdin: "ignore",
    stdout: "ignore",
    timeout: timeoutMilliseconds,
    env: environment as Record<string, string>,
  });
  if (!result.failed) return undefined;
  const output = String(result.stderr ?? "").slice(-2000);
  return `${result.shortMessage}${output === "" ? "" : `\n${output}`}`;
}
