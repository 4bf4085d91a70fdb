import { rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { lastingFolder, program, runWarm } from "../support/run.ts";
import type { WarmCommand, WarmResult } from "../support/warm-commands.ts";

/** A command line of a shell. */
export interface ShellCommand extends WarmCommand {
  /** Folder of the `relcat` that was called. */
  world: string;
}

/** Runs the command lines of shells. */
export type ShellRunner = (command: ShellCommand) => Promise<WarmResult>;

/**
 * A shell script `relcat`. It sends its command line to this process, which runs it in one that has relcat loaded:
 * that takes a quarter of the time. Servers, and commands that read standard input, are processes of their own.
 * @param world the folder that the commands belong to
 */
export async function shellRelcat(world: string, run: ShellRunner = runWarm): Promise<string> {
  return `#!/usr/bin/env bash
for word in "$@"; do
  case $word in -|serve|login|enroll) exec '${process.execPath}' '${program}' "$@";; esac
done
exec 3<>/dev/tcp/127.0.0.1/${await portOf(run)}
{ printf '%s\\0' '${world}' "$PWD" "$#" "$@"; env -0; printf '\\0'; } >&3
read -r status out err <&3
[ ! -s "$out" ] || cat "$out"
[ ! -s "$err" ] || cat "$err" >&2
exit "$status"
`;
}

const ports = new Map<ShellRunner, Promise<number>>();
let answers = 0;

/** The server runs as long as this process. */
function portOf(run: ShellRunner): Promise<number> {
  const known = ports.get(run);
  if (known) return known;
  const folder = lastingFolder();
  const server = createServer((socket) => void answer(socket, run, folder));
  server.unref();
  const port = new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );
  ports.set(run, port);
  return port;
}

async function answer(socket: Socket, run: ShellRunner, folder: string): Promise<void> {
  const command = await read(socket);
  const failed = ({ message }: Error) => ({ exitCode: 70, stdout: "", stderr: `${message}\n` });
  const { exitCode, stdout, stderr } = await run(command).catch(failed);
  const [out, err] = ["out", "err"].map((kind) => join(folder, `${++answers}.${kind}`)) as [string, string];
  writeFileSync(out, stdout);
  writeFileSync(err, stderr);
  socket.end(`${exitCode} ${out} ${err}\n`);
  socket.once("close", () => {
    rmSync(out);
    rmSync(err);
  });
}

/** Reads world, working directory, number of arguments, arguments and variables, up to an empty one. */
function read(socket: Socket): Promise<ShellCommand> {
  return new Promise((resolve, reject) => {
    let said = "";
    socket.setEncoding("utf8");
    socket.on("error", reject);
    socket.on("data", (part) => {
      said += part;
      const [world = "", cwd = "", count = "", ...rest] = said.split("\0");
      const args = rest.slice(0, Number(count));
      const variables = rest.slice(args.length);
      const end = variables.indexOf("");
      // The text after the last NUL is no word: it is empty or not complete.
      if (end === -1 || end >= variables.length - 1) return;
      const env = variables.slice(0, end).map((each) => {
        const [name = ""] = each.split("=", 1);
        return [name, each.slice(name.length + 1)];
      });
      resolve({ world, cwd, args, env: Object.fromEntries(env) });
    });
  });
}
