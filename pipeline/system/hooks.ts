import { failure } from "../../shared/errors.ts";

/**
 * Runs a program from catalog.yaml without a shell.
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
  const result = await execa(program, args, {
    reject: false,
    input,
    stdout: "ignore",
    // It goes directly to relcat's own messages, without buffering.
    stderr: "inherit",
    // Long enough for purging a CDN.
    timeout: 300_000,
    env: Object.fromEntries(hidden.map((variable) => [variable, undefined])),
    cwd: folder,
  });
  if (!result.failed) return;
  throw failure(
    "hook-failed",
    `it is published, but ${name} failed: ${result.shortMessage}`,
    "Run the command again: it continues where this one stopped.",
  );
}

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
    // Two consecutive runs finish within the minute that a connection may be silent.
    timeout: 25_000,
    env: environment as Record<string, string>,
  });
  if (!result.failed) return undefined;
  const output = String(result.stderr ?? "").slice(-2000);
  return `${result.shortMessage}${output === "" ? "" : `\n${output}`}`;
}
