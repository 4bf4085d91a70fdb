import { fstatSync, statSync, writeSync } from "node:fs";
import type { Output } from "./host.ts";

/**
 * Writes without a stream if possible, because creating one takes a tenth of Node's start-up time.
 * @param fd 1 or 2
 * @param stream is created for colours, slow readers and write errors
 */
export function unbufferedOutput(
  fd: number,
  stream: () => NodeJS.WriteStream,
  outputOf: (stream: NodeJS.WriteStream) => Output,
): Output {
  if (mayBeTerminal(fd) || process.env.FORCE_COLOR !== undefined) return outputOf(stream());
  let late: NodeJS.WriteStream | undefined;
  return {
    write(text) {
      const left = late ? Buffer.from(text) : writeAvailable(fd, Buffer.from(text));
      if (left.length === 0) return;
      late ??= stream();
      late.write(left);
    },
    style: (_, text) => text,
    columns: undefined,
  };
}

/** Writes as much as possible without blocking. @returns the rest */
function writeAvailable(fd: number, bytes: Buffer): Buffer {
  let left = bytes;
  try {
    while (left.length > 0) left = left.subarray(writeSync(fd, left));
  } catch {
    // The stream gets the rest, and waits or reports the error.
  }
  return left;
}

function mayBeTerminal(fd: number): boolean {
  const stat = fstatSync(fd);
  if (!stat.isCharacterDevice()) return false;
  return stat.rdev !== statSync("/dev/null", { throwIfNoEntry: false })?.rdev;
}
