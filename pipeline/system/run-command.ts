/** Milliseconds. Whoever waits for two runs still hears of it within the minute a connection may be silent. */
const patience = 25_000;

/**
 * Runs a program without a shell. What it prints to stdout is dropped.
 * @param environment added to the process's own; undefined takes a variable out
 * @returns why it failed, with the end of its stderr; undefined when it succeeded
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
    timeout: patience,
    env: environment as Record<string, string>,
  });
  if (!result.failed) return undefined;
  const said = String(result.stderr ?? "").slice(-2000);
  return `${result.shortMessage}${said === "" ? "" : `\n${said}`}`;
}
