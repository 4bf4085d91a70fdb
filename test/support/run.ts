import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa, type Options } from "execa";
import { afterAll, inject } from "vitest";

export const repository = resolve(import.meta.dirname, "../..");
/** relcat's launcher, as it is installed. */
export const program = inject("program");

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A folder of the test file's own, removed after its last test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "relcat-test-"));
  made.push(folder);
  return folder;
}

/** A copy of a fixture, or of the repository's sample for ".", to change at will. */
export function copyProject(fixture: string): string {
  const folder = temporaryFolder();
  const from =
    fixture === "." ? join(repository, "releases") : join(repository, "test/fixtures", fixture, "releases");
  cpSync(from, join(folder, "releases"), { recursive: true });
  return folder;
}

/** Runs the command as its users do; never rejects. */
export async function relcat(
  folder: string,
  args: readonly string[],
  options: Options & { nodeArgs?: readonly string[] } = {},
) {
  const { nodeArgs = [], ...rest } = options;
  const result = await execa(process.execPath, [...nodeArgs, program, ...args], {
    cwd: folder,
    reject: false,
    ...rest,
    env: { SOURCE_DATE_EPOCH: undefined, CI: undefined, GITHUB_ACTIONS: undefined, ...rest.env } as Record<
      string,
      string | undefined
    >,
  });
  return { ...result, stdout: String(result.stdout ?? ""), stderr: String(result.stderr ?? "") };
}

const { exitCode: hasScript } = await execa("script", ["--version"], { reject: false });
/** Whether `atTerminal` works here. */
export const hasTerminal = hasScript === 0;

/** Runs the command at a terminal, and types the answer once it asks. */
export async function atTerminal(
  folder: string,
  args: readonly string[],
  answer: string,
  env: Record<string, string> = {},
) {
  const command = [process.execPath, program, ...args].map((word) => `'${word}'`).join(" ");
  const options = { cwd: folder, reject: false, env: { CI: "", ...env } } as const;
  const terminal = execa("script", ["--quiet", "--return", "--command", command, "/dev/null"], options);
  let text = "";
  terminal.stdout.on("data", (chunk: Buffer) => {
    const wasAsked = text.includes("[y/N]");
    text += chunk;
    if (!wasAsked && text.includes("[y/N]")) terminal.stdin.write(answer);
  });
  const { exitCode } = await terminal;
  return { text: text.replaceAll("\r", ""), exitCode };
}
