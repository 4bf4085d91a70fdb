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
