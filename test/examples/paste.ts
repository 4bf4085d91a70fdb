import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect } from "vitest";
import { afterFile } from "../support/after-file.ts";
import { program, temporaryFolder } from "../support/run.ts";
import { hasTerminal } from "../support/terminal.ts";
import { type Example, exampleOf } from "./example.ts";

/** Where an example is pasted. */
export interface Place {
  cwd: string;
  env: Record<string, string | undefined>;
}

const ownNetwork = [
  "unshare",
  "--map-root-user",
  "--net",
  "sh",
  "-c",
  'ip link set lo up && exec "$@"',
  "sh",
];
const { exitCode: hasNetwork } = await execa("unshare", [...ownNetwork.slice(1), "true"], { reject: false });

/** A folder with a `relcat` that is a process of its own, which has the input and the signals of its shell. */
function ownRelcat(): string {
  const folder = temporaryFolder();
  const script = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  writeFileSync(join(folder, "relcat"), script, { mode: 0o755 });
  return folder;
}

/** Without namespaces of its own the port must be free on this machine. */
const around = ({ isServer }: Example): string[] => (isServer && hasNetwork === 0 ? ownNetwork : []);

/** The shell, at a terminal if the example asks a question. */
function shellOf(script: string, example: Example): string[] {
  if (example.answer === undefined) return ["bash", "-c", script];
  expect(hasTerminal, "script(1) is missing").toBe(true);
  const file = join(temporaryFolder(), "pasted.sh");
  writeFileSync(file, script);
  return ["script", "--quiet", "--return", "--command", `bash '${file}'`, "/dev/null"];
}

type Act = () => unknown;

/** Pastes the example of a command's help, and asserts that it works. */
export async function tryExample(words: readonly string[], example: Example, { cwd, env }: Place) {
  const script = `set -euo pipefail\n${await exampleOf(words)}\n${example.after ?? ""}`;
  const [file = "", ...args] = [...around(example), ...shellOf(script, example)];
  const { answer, input = "", until, meanwhile } = example;
  const isOwn = answer !== undefined || until !== undefined || input !== "";
  const path = isOwn ? `${ownRelcat()}:${env.PATH}` : env.PATH;
  const options = {
    cwd,
    env: { ...env, PATH: path },
    all: true,
    reject: false,
    detached: until !== undefined,
  } as const;
  const shell = execa(file, args, answer === undefined ? { ...options, input } : options);
  let hasEnded = false;
  // A detached process is not stopped with this one.
  const stop = (signal: "SIGINT" | "SIGKILL") => {
    if (!hasEnded) process.kill(-(shell.pid ?? 0), signal);
  };
  if (until !== undefined) afterFile(() => stop("SIGKILL"));
  const waiting: (readonly [printed: RegExp, act: Act])[] = [];
  if (answer !== undefined) waiting.push([/\[y\/N\]/, () => shell.stdin?.write(`${answer}\n`)]);
  if (meanwhile !== undefined) waiting.push(meanwhile);
  // Ctrl-C reaches the shell and the commands that it runs.
  if (until !== undefined) waiting.push([until, () => stop("SIGINT")]);
  let shown = "";
  shell.all.on("data", (chunk: Buffer) => {
    shown += String(chunk).replaceAll("\r", "");
    for (const due of waiting.filter(([printed]) => printed.test(shown))) {
      waiting.splice(waiting.indexOf(due), 1);
      due[1]();
    }
  });
  const { exitCode, signal } = await shell;
  hasEnded = true;
  expect({ ends: signal ?? exitCode, shown }).toEqual({
    ends: example.ends ?? 0,
    shown: expect.stringMatching(example.prints),
  });
}
