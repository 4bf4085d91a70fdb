import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Group, repeated } from "./rounds.ts";
import type { Command } from "./runs.ts";

export const startup = { title: "Start-up", ours: "relcat --version", empty: "an empty program" } as const;

/** How long it takes until the installed package says which version it is. */
export function startupGroup(relcat: string, work: string): Group {
  const program = join(work, "empty.mjs");
  writeFileSync(program, "");
  const outs = join(work, "outs");
  const command = (...args: string[]): Command => ({
    argv: [process.execPath, ...args],
    cwd: work,
    env: { NODE_COMPILE_CACHE: undefined },
  });
  return {
    title: startup.title,
    entries: [
      repeated(startup.ours, command(relcat, "--version"), outs),
      repeated(startup.empty, command(program), outs),
    ],
  };
}
