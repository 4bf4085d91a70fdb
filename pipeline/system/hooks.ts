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
