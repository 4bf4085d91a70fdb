import { failure } from "../errors.ts";

/** Milliseconds: CDNs take their time. */
const patience = 300_000;

/**
 * Runs a program that catalog.yaml names, without a shell.
 * @param input for its stdin
 * @param options.folder it runs in
 * @param options.hidden variables that are none of its business
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
  // What it says goes where relcat's own messages go: nothing of it must be kept, or waited for.
  const options = {
    reject: false,
    input,
    stdout: "ignore",
    stderr: "inherit",
    timeout: patience,
    env,
    cwd: folder,
  } as const;
  const result = await execa(program, args, options);
  if (!result.failed) return;
  throw failure(
    "hook-failed",
    `it is published, but ${name} failed: ${result.shortMessage}`,
    "Run the command again: it goes on where this one stopped.",
  );
}
