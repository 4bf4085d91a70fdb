import { execa } from "execa";
import { program } from "./run.ts";

const { exitCode: hasScript } = await execa("script", ["--version"], { reject: false });
/** Whether `atTerminal` works here. */
export const hasTerminal = hasScript === 0;

/** Runs the command at a terminal, and types the answer once it asks. */
export const atTerminal = (
  folder: string,
  args: readonly string[],
  answer: string,
  env: Record<string, string> = {},
) => typingAtTerminal(folder, args, (text) => (text.includes("[y/N]") ? answer : undefined), env);

/** Runs the command at a terminal. @param next what to type, once, given all that was shown so far */
export async function typingAtTerminal(
  folder: string,
  args: readonly string[],
  next: (text: string) => string | undefined,
  env: Record<string, string> = {},
) {
  const command = [process.execPath, program, ...args].map((word) => `'${word}'`).join(" ");
  const options = { cwd: folder, reject: false, env: { CI: "", ...env } } as const;
  const terminal = execa("script", ["--quiet", "--return", "--command", command, "/dev/null"], options);
  let text = "";
  terminal.stdout.on("data", (chunk: Buffer) => {
    const wasAsked = next(text) !== undefined;
    text += chunk;
    const answer = next(text);
    if (!wasAsked && answer !== undefined) terminal.stdin.write(answer);
  });
  const { exitCode } = await terminal;
  return { text: text.replaceAll("\r", ""), exitCode };
}
