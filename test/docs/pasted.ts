import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { program, repository, temporaryFolder } from "../support/run.ts";
import type { Pasted } from "./paste-next.ts";

const pasting = join(repository, "test/docs/paste-next.ts");

/** A shell script `relcat`. If RELCAT_PASTED names a file, "Next" lines are pasted in a copy of `folder` and logged there. */
export const launcher = (folder: string): string => `#!/bin/sh
if [ -z "$RELCAT_PASTED" ]; then exec '${process.execPath}' '${program}' "$@"; fi
exec '${process.execPath}' '${pasting}' '${program}' '${folder}' "$RELCAT_PASTED" "$@"
`;

/** Asserts that each "Next" line works that `run` makes a `launcher` print. */
export async function withNextPasted<T>(
  run: (env: Record<string, string>) => Promise<T>,
): Promise<T & { pasted: string[] }> {
  const log = join(temporaryFolder(), "pasted");
  writeFileSync(log, "");
  const result = await run({ RELCAT_PASTED: log });
  const pasted = readFileSync(log, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line): Pasted => JSON.parse(line));
  expect(pasted.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
  return { ...result, pasted: pasted.map(({ next }) => next) };
}
