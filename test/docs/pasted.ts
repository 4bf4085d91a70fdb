import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "vitest";
import { afterFile } from "../support/after-file.ts";
import { program, repository, temporaryFolder } from "../support/run.ts";
import type { S3Fake } from "../support/s3-fake.ts";
import type { Pasted } from "./paste-next.ts";

const pasting = join(repository, "test/docs/paste-next.ts");

/** A shell script `relcat`. If RELCAT_PASTED names a file, "Next" lines are pasted in a copy of `folder` and logged there. */
export const launcher = (folder: string): string => `#!/bin/sh
if [ -z "$RELCAT_PASTED" ]; then exec '${process.execPath}' '${program}' "$@"; fi
exec '${process.execPath}' '${pasting}' '${program}' '${folder}' "$RELCAT_PASTED" "$@"
`;

/**
 * Asserts that each "Next" line works that `run` makes a `launcher` print.
 * @param service pasted commands get a copy of its bucket, too
 */
export async function withNextPasted<T>(
  run: (env: Record<string, string>) => Promise<T>,
  service?: S3Fake,
): Promise<T & { pasted: string[] }> {
  const log = join(temporaryFolder(), "pasted");
  writeFileSync(log, "");
  const bucket = service ? await bucketSwitch(service) : "";
  const result = await run({ RELCAT_PASTED: log, RELCAT_PASTED_BUCKET: bucket });
  const pasted = readFileSync(log, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line): Pasted => JSON.parse(line));
  expect(pasted.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
  return { ...result, pasted: pasted.map(({ next }) => next) };
}

/** The bucket is in this process: paste-next.ts asks it over HTTP to lay the bucket aside, and to bring it back. */
async function bucketSwitch(service: S3Fake): Promise<string> {
  const { bucket } = service;
  const server = createServer(({ url }, response) => {
    service.bucket = url === "/copy" ? bucket.copy() : bucket;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterFile(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
